package redistest

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// link is a client's connection and the one to the server that it is carried on.
type link struct {
	proxy  *Proxy
	client net.Conn
	server net.Conn // nil where a black hole took the client

	done   chan struct{} // closed with the connections
	silent atomic.Bool   // nothing reaches the client any more
	dead   atomic.Bool   // nor the server
	stream atomic.Bool   // no longer one reply for one request

	mu      sync.Mutex // for the connection to the server, and done, while they change
	pending []string   // the commands whose replies are to come
}

// streams are the commands after which a connection is no longer one of requests
// and replies.
var streams = []string{"subscribe", "psubscribe", "ssubscribe", "monitor", "sync", "psync"}

// carry returns when either side is closed and what it sent before is delivered.
func (l *link) carry(target string) {
	if l.lost() {
		l.pump(l.client, l.request, func(frame) bool { return true })
		return
	}
	server, err := net.DialTimeout("tcp", target, callTimeout)
	if err != nil {
		return
	}
	l.attach(server)
	var replies sync.WaitGroup
	replies.Go(func() {
		l.pump(server, l.reply, l.deliverReply)
		if !l.lost() { // a black hole does not tell the client
			l.close()
		}
	})
	l.pump(l.client, l.request, l.deliverRequest)
	l.close()
	replies.Wait()
}

// attach takes the connection to the server, unless the client's is closed.
func (l *link) attach(server net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
	select {
	case <-l.done:
		_ = server.Close()
	default:
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
		return
	default:
	}
	close(l.done)
	_ = l.client.Close()
	if l.server != nil {
		_ = l.server.Close()
	}
}

// lost reports whether a black hole takes what the link carries, now or for good.
func (l *link) lost() bool {
	if l.proxy.get().blackHole {
		l.dead.Store(true)
	}
	return l.dead.Load()
}

// request reads one from the client.
func (l *link) request(r *reader) (frame, error) {
	f, err := l.read(r)
	if slices.Contains(streams, f.command) {
		l.stream.Store(true)
	}
	l.proxy.count(func(c *counts) {
		c.in += int64(len(f.raw))
		if f.command != "" {
			c.requests[f.command]++
		}
	})
	f.due = time.Now().Add(l.proxy.get().requests)
	return f, err
}

// reply reads one from the server.
func (l *link) reply(r *reader) (frame, error) {
	f, err := l.read(r)
	f.command = ""
	f.due = time.Now().Add(l.proxy.get().replies)
	return f, err
}

func (l *link) read(r *reader) (frame, error) {
	if l.stream.Load() {
		raw, err := r.some()
		return frame{raw: raw}, err
	}
	v, raw, err := r.read()
	if err != nil {
		return frame{raw: raw}, err
	}
	return frame{raw: raw, command: v.command(), answer: v.kind != '>'}, nil
}

func (l *link) deliverRequest(f frame) bool {
	if l.lost() {
		return true
	}
	if f.command != "" {
		l.mu.Lock()
		l.pending = append(l.pending, f.command)
		l.mu.Unlock()
	}
	_, err := l.server.Write(f.raw)
	return err == nil
}

func (l *link) deliverReply(f frame) bool {
	if l.lost() || l.silent.Load() {
		return true
	}
	if f.answer {
		fault, struck := l.proxy.strike(l.answered())
		switch {
		case struck && fault.cut:
			l.send(f.raw[:min(fault.after, len(f.raw))])
			return false
		case struck:
			l.silent.Store(true)
			return true
		}
	}
	return l.send(f.raw)
}

// answered returns the command that the next reply answers.
func (l *link) answered() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return ""
	}
	command := l.pending[0]
	l.pending = l.pending[1:]
	return command
}

func (l *link) send(raw []byte) bool {
	// Counted first: who has read them finds them counted.
	l.proxy.count(func(c *counts) { c.out += int64(len(raw)) })
	_, err := l.client.Write(raw)
	return err == nil
}
