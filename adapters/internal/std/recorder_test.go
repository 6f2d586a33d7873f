package std_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/ratelimit/adapters/internal/std"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// asker is an observer of ends that looks at nothing.
type asker struct{}

func (asker) Decided(context.Context, []byte, ratelimit.Decision) {}
func (asker) Reported(context.Context, ratelimit.Report)          {}
func (asker) Ended(context.Context, ratelimit.Ended)              {}

// asking returns a ticket whose observer asks how requests end.
func asking(t *testing.T) *ratelimit.Ticket { return ticket(t, asker{}) }

func ticket(t *testing.T, observer ratelimit.Observer) *ratelimit.Ticket {
	t.Helper()
	limiter := ratelimit.Must(ratelimit.Config{
		Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerMinute(9), Key: keyfuncs.Everyone}}, Observer: observer,
	})
	ticket := limiter.Begin(httplimit.View(httptest.NewRequest(http.MethodGet, "/", nil)))
	t.Cleanup(func() { ticket.End(0, nil) })
	return ticket
}

func TestNothingIsRecordedUnasked(t *testing.T) {
	w := httptest.NewRecorder()
	got, recorder := std.Record(w, ticket(t, nil))
	if got != http.ResponseWriter(w) || recorder != nil {
		t.Errorf("got %T, %v, want the writer and nil", got, recorder)
	}
	if status, ok := recorder.Answered(); status != 0 || ok || recorder.Status() != 0 {
		t.Errorf("nobody asks, and it knows of %d, %t, %d", status, ok, recorder.Status())
	}
}

// partial is a middleware's writer that leaves Hijack to ResponseController.
type partial struct{ w http.ResponseWriter }

func (p partial) Header() http.Header         { return p.w.Header() }
func (p partial) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p partial) WriteHeader(status int)      { p.w.WriteHeader(status) }
func (p partial) Unwrap() http.ResponseWriter { return p.w }

// What is recorded is what a client gets, over a connection.
func TestStatus(t *testing.T) {
	hijack := func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(conn, "HTTP/1.1 299 By hand\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		conn.Close()
	}
	for name, c := range map[string]struct {
		handle  func(http.ResponseWriter)
		told    int
		partial bool
	}{
		"nothing":  {func(http.ResponseWriter) {}, 200, false},
		"a body":   {func(w http.ResponseWriter) { w.Write([]byte("ok")) }, 200, false},
		"a string": {func(w http.ResponseWriter) { io.WriteString(w, "ok"); w.WriteHeader(404) }, 200, false},
		"a reader": {func(w http.ResponseWriter) {
			io.Copy(w, io.LimitReader(strings.NewReader("ok"), 2))
			w.WriteHeader(404)
		}, 200, false},
		"a flush":                  {func(w http.ResponseWriter) { w.(http.Flusher).Flush(); w.WriteHeader(404) }, 200, false},
		"a controller's flush":     {func(w http.ResponseWriter) { http.NewResponseController(w).Flush(); w.WriteHeader(404) }, 200, false},
		"the first of two":         {func(w http.ResponseWriter) { w.WriteHeader(404); w.WriteHeader(500) }, 404, false},
		"a status and a body":      {func(w http.ResponseWriter) { w.WriteHeader(201); w.Write([]byte("ok")) }, 201, false},
		"103 before":               {func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(404) }, 404, false},
		"103 and nothing":          {func(w http.ResponseWriter) { w.WriteHeader(103) }, 200, false},
		"101":                      {func(w http.ResponseWriter) { w.WriteHeader(101) }, 101, false},
		"hijacked":                 {hijack, 0, false},
		"hijacked behind":          {hijack, 0, true},
		"a partial writer":         {func(w http.ResponseWriter) { w.WriteHeader(404) }, 404, true},
		"a partial writer's flush": {func(w http.ResponseWriter) { http.NewResponseController(w).Flush() }, 200, true},
		"deadlines": {func(w http.ResponseWriter) {
			control := http.NewResponseController(w)
			for _, err := range []error{
				control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}), control.EnableFullDuplex(),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		}, 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan int, 1)
			handler := func(w http.ResponseWriter, _ *http.Request) {
				if c.partial {
					w = partial{w}
				}
				recorded, recorder := std.Record(w, asking(t))
				c.handle(recorded)
				told <- recorder.Status()
			}
			resp := get(t, serve(t, http.HandlerFunc(handler), nil))
			defer resp.Body.Close()
			if got := <-told; got != c.told {
				t.Errorf("told %d, want %d", got, c.told)
			}
			if c.told != 0 && resp.StatusCode != c.told {
				t.Errorf("answered %d, told %d", resp.StatusCode, c.told)
			}
		})
	}
}

// A status that is none panics in net/http, and is not noted.
func TestInvalidStatus(t *testing.T) {
	w, recorder := std.Record(httptest.NewRecorder(), asking(t))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
		if status, ok := recorder.Answered(); ok {
			t.Errorf("noted %d", status)
		}
	}()
	w.WriteHeader(42)
}

// What a writer cannot do, a recorder around it says that it cannot.
func TestNotSupported(t *testing.T) {
	w, recorder := std.Record(struct{ http.ResponseWriter }{httptest.NewRecorder()}, asking(t))
	control := http.NewResponseController(w)
	for name, err := range map[string]error{
		"flush": control.Flush(), "read": control.SetReadDeadline(time.Now()), "write": control.SetWriteDeadline(time.Now()),
		"duplex": control.EnableFullDuplex(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if w.(interface{ CloseNotify() <-chan bool }).CloseNotify() != nil {
		t.Error("somebody would notify")
	}
	if status, ok := recorder.Answered(); ok {
		t.Errorf("noted %d", status)
	}
}
