package redistest

import (
	"slices"
	"time"
)

// fault befalls the next n replies to some commands, or to any where none is named.
type fault struct {
	n        int
	commands []string
	cut      bool // after so many bytes, and the connection with it
	after    int
}

// Pass carries everything again, and listens again after Refuse. A connection
// that lost something stays silent until its client closes it: what is lost on a
// connection cannot be followed by what comes later.
func (p *Proxy) Pass() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode{}
	p.tend()
}

// Cut closes all connections at once, and returns when they are closed. New ones
// are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Refuse refuses new connections, as the port of a server that is down does, until
// Pass. Those that are open stay; Cut closes them.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode.refuse = true
	p.tend()
}

// BlackHole accepts connections and reads what comes, but carries no request and
// no reply, until Pass. So does a network that drops packets.
func (p *Proxy) BlackHole() { p.set(func(m *mode) { m.blackHole = true }) }

// Delay holds back each request and each reply for so long, until Pass or until
// another Delay. What comes meanwhile is not held back the longer.
func (p *Proxy) Delay(requests, replies time.Duration) {
	p.set(func(m *mode) { m.requests, m.replies = requests, replies })
}

// DropReplies loses the next n replies to commands of these names (in lower case,
// "evalsha"), or to any where none is named. The server has done what was asked, but
// nothing reaches the client on that connection any more. Commands with which a
// client opens a connection count like others, so a test names those that it means.
func (p *Proxy) DropReplies(n int, commands ...string) {
	p.set(func(m *mode) { m.fault = fault{n: n, commands: commands} })
}

// CutReplies sends only so many bytes, 0 or more, of the next n replies to commands
// of these names, as DropReplies does, and then closes the connection.
func (p *Proxy) CutReplies(n, after int, commands ...string) {
	p.set(func(m *mode) { m.fault = fault{n: n, commands: commands, cut: true, after: after} })
}

func (p *Proxy) set(change func(*mode)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.mode)
}

func (p *Proxy) get() mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// strike returns the fault that befalls a reply to a command, and whether one does.
func (p *Proxy) strike(command string) (fault, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &p.mode.fault
	if f.n <= 0 || !among(command, f.commands) {
		return fault{}, false
	}
	f.n--
	return *f, true
}

// among reports whether a name is one of several; no names stand for all.
func among(name string, names []string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}
