package redistest

import (
	"net"
	"sync"
	"time"
)

// frame is a request, a reply or, of a stream, some bytes, with the time at which
// it is to be delivered.
type frame struct {
	raw     []byte
	due     time.Time
	command string // of a request
	answer  bool   // of the server, which it does not send unasked
}

// pump delivers what comes from a connection until that is closed or deliver
// returns false.
func (l *link) pump(from net.Conn, next func(*reader) (frame, error), deliver func(frame) bool) {
	frames := make(chan frame, 1024)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(frames)
		r := newReader(from)
		for {
			f, err := next(r)
			if err != nil {
				return
			}
			select {
			case frames <- f:
			case <-l.done:
				return
			}
		}
	})
	for f := range frames {
		if !l.until(f.due) || !deliver(f) {
			l.close()
			break
		}
	}
	reading.Wait()
}

// until waits for a time; it returns false where the connections are closed first.
func (l *link) until(due time.Time) bool {
	d := time.Until(due)
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-l.done:
		return false
	}
}
