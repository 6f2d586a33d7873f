package redistest

import (
	"fmt"
	"net"
	"strconv"
	"time"
)

// callTimeout bounds one command, connection included.
const callTimeout = 10 * time.Second

// Error is what a server answered in place of a result: a code and a text, like
// "WRONGTYPE Operation against a key ...".
type Error string

func (e Error) Error() string { return string(e) }

// call sends a command over a connection of its own, so that nothing is left of
// it whatever happened to the server before.
func call(addr string, timeout time.Duration, args ...string) (any, error) {
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(request(args...)); err != nil {
		return nil, err
	}
	v, _, err := newReader(conn).read()
	if err != nil {
		return nil, fmt.Errorf("redistest: no answer to %s: %w", args[0], err)
	}
	return v.plain()
}

func request(args ...string) []byte {
	b := append(strconv.AppendInt([]byte{'*'}, int64(len(args)), 10), "\r\n"...)
	for _, arg := range args {
		b = append(strconv.AppendInt(append(b, '$'), int64(len(arg)), 10), "\r\n"...)
		b = append(append(b, arg...), "\r\n"...)
	}
	return b
}
