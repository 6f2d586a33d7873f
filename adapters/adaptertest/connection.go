package adaptertest

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// connection is one connection, held by hand: net/http's Transport opens another as
// it sees fit, on a busy machine say.
type connection struct {
	net.Conn
	reader *bufio.Reader
}

// dial opens a connection that lasts as long as the test.
func (s *suite) dial(addr net.Addr) *connection {
	s.Helper()
	var d net.Dialer
	conn, err := d.DialContext(s.Context(), addr.Network(), addr.String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		s.Fatal(err)
	}
	return &connection{conn, bufio.NewReader(conn)}
}

// RoundTrip implements [http.RoundTripper], for one request after the other whose
// answers are read to their end.
func (c *connection) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Write(c); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.reader, req)
}
