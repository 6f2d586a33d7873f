package std_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
	"github.com/weirhq/ratelimit/adapters/internal/std"
)

// conn counts the calls of ReadFrom, by which files reach the system unread.
type conn struct {
	*net.TCPConn
	sent *atomic.Int64
}

func (c conn) ReadFrom(r io.Reader) (int64, error) {
	c.sent.Add(1) // before the client can have the bytes
	return c.TCPConn.ReadFrom(r)
}

type listener struct {
	net.Listener
	sent *atomic.Int64
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c.(*net.TCPConn), l.sent}, nil
}

func TestFilesReachTheConnection(t *testing.T) {
	const size = 100_000
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	resp := get(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w, _ = std.Record(w, asking(t))
		http.ServeFile(w, r, file)
	}), &sent))
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); len(body) != size || err != nil {
		t.Errorf("read %d bytes, %v", len(body), err)
	}
	if sent.Load() == 0 {
		t.Error("the file was copied")
	}
}

// The interfaces are a connection's own over HTTP/1 and HTTP/2.
func TestServersWriters(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		bare := interfaces(w)
		recorded, _ := std.Record(w, asking(t))
		if got := interfaces(recorded); got != bare || bare == [4]bool{} {
			t.Errorf("flush, hijack, read, push: %v, want %v", got, bare)
		}
		if recorded.(interface{ CloseNotify() <-chan bool }).CloseNotify() == nil {
			t.Error("nobody notifies")
		}
	}
	addr := serve(t, http.HandlerFunc(handler), nil)
	get(t, addr).Body.Close()
	wire := &http.Transport{Protocols: new(http.Protocols)}
	wire.Protocols.SetUnencryptedHTTP2(true)
	defer wire.CloseIdleConnections()
	resp, err := (&http.Client{Transport: wire}).Get(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Errorf("answered over %s", resp.Proto)
	}
}

// serve serves h, and returns where.
func serve(t *testing.T, h http.Handler, sent *atomic.Int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	if sent != nil {
		l = listener{l, sent}
	}
	adaptertest.ServeHTTP(t, h, l)
	return url
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	wire := &http.Transport{}
	t.Cleanup(wire.CloseIdleConnections)
	resp, err := (&http.Client{Transport: wire}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
