package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// Ports are drawn from a range that no usual system takes the ports of outgoing
// connections from, nor those of listeners on port 0. So a port stays free while
// its server is down, and packages that are tested at once rarely draw the same;
// where they do, another is tried.
const (
	firstPort = 10_000
	ports     = 10_000
	busOffset = 10_000 // from the port of a cluster's node to that of its bus
)

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// listen returns a listener on a port of the range.
func listen() (net.Listener, error) {
	var failed error
	for range 100 {
		l, err := net.Listen("tcp", address(firstPort+rand.IntN(ports)))
		if err == nil {
			return l, nil
		}
		failed = err
	}
	return nil, fmt.Errorf("redistest: no free port: %w", failed)
}

// listenAt returns a listener on a port that was given up, as soon as it is free.
func listenAt(addr string) (net.Listener, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(interval) {
		l, err := net.Listen("tcp", addr)
		if err == nil || time.Now().After(deadline) {
			return l, err
		}
	}
}

// shut closes a listener, and returns when nothing listens there. A process that is
// just being started has all sockets for a moment, until it runs its program, and so
// long the kernel accepts connections for it.
func shut(l net.Listener) error {
	if err := l.Close(); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		conn, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			return nil
		}
		if err := conn.Close(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redistest: %s still accepts connections", l.Addr())
		}
	}
}

// freePort returns a port that nothing listens on, nor on that of its bus.
func freePort() (int, error) {
	var failed error
	for range 100 {
		l, err := listen()
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		bus, err := net.Listen("tcp", address(port+busOffset))
		_ = l.Close()
		if err == nil {
			return port, bus.Close()
		}
		failed = err
	}
	return 0, fmt.Errorf("redistest: no free port: %w", failed)
}
