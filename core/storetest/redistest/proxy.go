package redistest

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy stands between clients and a server, and misbehaves as it is told to. It
// reads what it carries as commands and replies, so that it can tell which reply it
// loses. Subscriptions, MONITOR and replication are carried too, but as bytes, in
// which it counts and loses no replies.
//
// Where the server is down, a connection is accepted and closed at once; Refuse is
// what a client would see without the proxy. That of a cluster's node does so itself
// while the node is killed.
//
// A new one carries everything. Pass ends all that the other methods began. All
// may be called from several goroutines, at any time.
type Proxy struct {
	t      testing.TB
	target string
	addr   string
	wait   sync.WaitGroup // for its goroutines

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	links    map[*link]struct{}
	closed   bool
	down     bool // as the node is that it stands before
	mode     mode
	counts   counts
}

// mode is what a proxy does beside carrying.
type mode struct {
	refuse, blackHole bool
	requests, replies time.Duration // that each is delayed by
	fault             fault
}

type counts struct {
	connections int
	in, out     int64
	requests    map[string]int // by command
}

// NewProxy returns a proxy in front of a server, on a port of its own. It ends
// with the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := newProxy(t)
	p.serve(target)
	return p
}

// newProxy returns a proxy that takes connections from serve on. A node of a
// cluster announces the address before it runs.
func newProxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{t: t, addr: l.Addr().String(), listener: l, links: map[*link]struct{}{}}
	p.counts.requests = map[string]int{}
	t.Cleanup(p.close)
	return p
}

func (p *Proxy) serve(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	l := p.listener
	p.wait.Go(func() { p.accept(l) })
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.tend()
	p.mu.Unlock()
	p.Cut()
	p.wait.Wait()
}

// tend opens or closes the listener as the state wants it. The caller holds the
// lock.
func (p *Proxy) tend() {
	p.t.Helper()
	switch wanted := !p.closed && !p.down && !p.mode.refuse; {
	case !wanted && p.listener != nil:
		if err := shut(p.listener); err != nil {
			p.t.Errorf("redistest: the proxy cannot refuse connections: %v", err)
		}
		p.listener = nil
	case wanted && p.listener == nil:
		l, err := listenAt(p.addr)
		if err != nil {
			p.t.Errorf("redistest: the proxy cannot listen again: %v", err)
			return
		}
		p.listener = l
		p.wait.Go(func() { p.accept(l) })
	}
}

// follow refuses connections while the node is down that the proxy stands before, as
// the node would.
func (p *Proxy) follow(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	p.tend()
}

// accept carries the connections of a listener until that is closed.
func (p *Proxy) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p.wait.Go(func() { p.carry(conn) })
	}
}

// carry carries a connection until it is closed.
func (p *Proxy) carry(client net.Conn) {
	l := &link{proxy: p, client: client, done: make(chan struct{})}
	p.mu.Lock()
	p.counts.connections++
	p.links[l] = struct{}{}
	target, closed := p.target, p.closed
	p.mu.Unlock()
	if !closed {
		l.carry(target)
	}
	l.close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

func (p *Proxy) count(add func(*counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	add(&p.counts)
}

// Addr returns host and port, as clients want them.
func (p *Proxy) Addr() string { return p.addr }

func (p *Proxy) port() string { return p.addr[strings.LastIndexByte(p.addr, ':')+1:] }

// Connections returns how many were accepted.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.connections
}

// Open returns how many connections are open.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Requests returns how many commands clients sent, those included that went into
// a black hole; with names, how many of these commands, in lower case: "evalsha".
func (p *Proxy) Requests(commands ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for name, count := range p.counts.requests {
		if among(name, commands) {
			n += count
		}
	}
	return n
}

// Bytes returns how many came in from clients, and how many went out to them.
func (p *Proxy) Bytes() (in, out int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.in, p.counts.out
}
