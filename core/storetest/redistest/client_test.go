package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"
)

// client is a plain client on one connection.
type client struct {
	testing.TB
	net.Conn
	*reader
}

func connect(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{t, conn, newReader(conn)}
}

func (c *client) send(args ...string) {
	c.Helper()
	if _, err := c.Write(request(args...)); err != nil {
		c.Fatal(err)
	}
}

// receive returns a reply as text.
func (c *client) receive() string {
	c.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.Fatal(err)
	}
	v, _, err := c.read()
	if err != nil {
		c.Fatalf("no reply: %v", err)
	}
	return answer(v.plain())
}

func (c *client) do(args ...string) string {
	c.Helper()
	c.send(args...)
	return c.receive()
}

// silent fails the test where something comes, or the connection is closed.
func (c *client) silent() {
	c.Helper()
	if err := c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		c.Fatal(err)
	}
	if b, err := c.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.Fatalf("%q came, and %v; want silence", b, err)
	}
}

// gone fails the test where the connection gives anything but these bytes and its
// end.
func (c *client) gone(want string) {
	c.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.Fatal(err)
	}
	for _, b := range []byte(want) {
		if got, err := c.ReadByte(); got != b || err != nil {
			c.Fatalf("%q came, and %v; want %q of %q", got, err, b, want)
		}
	}
	if b, err := c.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.Fatalf("%q came, and %v; want the end", b, err)
	}
}

// answer returns what Do does as text.
func answer(v any, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v)
}

// equal fails the test where two values differ.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// refused fails the test where a connection is accepted.
func refused(t testing.TB, addr string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err == nil {
		_ = conn.Close()
		t.Errorf("%s accepts a connection", addr)
	} else if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		t.Errorf("%s is silent: %v", addr, err)
	}
}

// line sends a command as a line of words.
func line(c *client, words string) string {
	c.Helper()
	if _, err := c.Write([]byte(words + "\r\n")); err != nil {
		c.Fatal(err)
	}
	return c.receive()
}

// open returns nil where a proxy has so many connections.
func open(p *Proxy, want int) error {
	if n := p.Open(); n != want {
		return fmt.Errorf("%d are open, want %d", n, want)
	}
	return nil
}

// has returns nil where a server has a value under a key.
func has(s *Server, key, want string) error {
	if v := answer(s.Do("GET", key)); v != want {
		return fmt.Errorf("%s is %s, want %s", key, v, want)
	}
	return nil
}
