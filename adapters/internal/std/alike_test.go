package std_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/ratelimit/adapters/internal/std"
)

// all is a writer with every interface.
type all struct{ http.ResponseWriter }

func (all) Flush()                                       {}
func (all) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }
func (all) ReadFrom(io.Reader) (int64, error)            { return 7, nil }
func (all) Push(string, *http.PushOptions) error         { return nil }

// interfaces says which of the four a writer has.
func interfaces(w http.ResponseWriter) (has [4]bool) {
	_, has[0] = w.(http.Flusher)
	_, has[1] = w.(http.Hijacker)
	_, has[2] = w.(io.ReaderFrom)
	_, has[3] = w.(http.Pusher)
	return has
}

// A recorder has the interfaces of the writer behind it, each in its place, and no
// other: around another recorder as well.
func TestRecorderIsAlike(t *testing.T) {
	w := httptest.NewRecorder()
	a := all{w}
	plain := struct{ http.ResponseWriter }{w}
	writers := []http.ResponseWriter{
		plain,
		struct {
			http.ResponseWriter
			http.Flusher
		}{w, a},
		struct {
			http.ResponseWriter
			http.Hijacker
		}{w, a},
		struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
		}{w, a, a},
		struct {
			http.ResponseWriter
			io.ReaderFrom
		}{w, a},
		struct {
			http.ResponseWriter
			http.Flusher
			io.ReaderFrom
		}{w, a, a},
		struct {
			http.ResponseWriter
			http.Hijacker
			io.ReaderFrom
		}{w, a, a},
		struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
			io.ReaderFrom
		}{w, a, a, a},
		struct {
			http.ResponseWriter
			http.Pusher
		}{w, a},
		struct {
			http.ResponseWriter
			http.Flusher
			http.Pusher
		}{w, a, a},
		struct {
			http.ResponseWriter
			http.Hijacker
			http.Pusher
		}{w, a, a},
		struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
			http.Pusher
		}{w, a, a, a},
		struct {
			http.ResponseWriter
			io.ReaderFrom
			http.Pusher
		}{w, a, a},
		struct {
			http.ResponseWriter
			http.Flusher
			io.ReaderFrom
			http.Pusher
		}{w, a, a, a},
		struct {
			http.ResponseWriter
			http.Hijacker
			io.ReaderFrom
			http.Pusher
		}{w, a, a, a},
		struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
			io.ReaderFrom
			http.Pusher
		}{w, a, a, a, a},
	}
	seen := make(map[[4]bool]bool)
	for _, w := range writers {
		want := interfaces(w)
		seen[want] = true
		once, _ := std.Record(w, asking(t))
		twice, _ := std.Record(once, asking(t))
		for _, got := range []http.ResponseWriter{once, twice} {
			if has := interfaces(got); has != want {
				t.Errorf("flush, hijack, read, push: %v, want %v", has, want)
			}
		}
		call(t, twice)
	}
	if len(seen) != 16 {
		t.Errorf("%d combinations, want 16", len(seen))
	}
}

// call calls what the writer has: each method reaches the writer's own.
func call(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	if r, ok := w.(io.ReaderFrom); ok {
		if n, err := r.ReadFrom(nil); n != 7 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	}
	if p, ok := w.(http.Pusher); ok {
		if err := p.Push("/", nil); err != nil {
			t.Error(err)
		}
	}
	if h, ok := w.(http.Hijacker); ok {
		if _, _, err := h.Hijack(); err != nil {
			t.Error(err)
		}
	}
}
