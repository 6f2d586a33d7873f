package keyfuncs

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// trust says which hops on the way to the app are one's own proxies.
type trust struct {
	proxies prefixes
	hops    int  // this many hops are trusted whoever they are, the peer first
	unix    bool // so is a peer without address

	mistakes []error
}

func (t *trust) bad(function, format string, args ...any) {
	t.mistakes = append(t.mistakes, mistake(function, format, args...))
}

// nobody reports whether no hop can be trusted.
func (t *trust) nobody() bool { return len(t.proxies) == 0 && t.hops == 0 && !t.unix }

// fromPeerOnly is for a header that says nothing of other hops than the peer.
func (t *trust) fromPeerOnly(header string) {
	if t.hops > 1 {
		t.bad("UnsafeTrustHops", "must be 1 with %s, which is believed from the peer alone, is %d", header, t.hops)
	}
}

// ready prepares for trusts, and returns all mistakes of the options.
func (t *trust) ready() error {
	t.proxies = t.proxies.merged()
	return errors.Join(t.mistakes...)
}

// trusts reports whether the hop-th address, the peer being 0, is a proxy's.
func (t *trust) trusts(addr netip.Addr, hop int) bool {
	if !addr.IsValid() { // only a peer can be
		return t.unix
	}
	return hop < t.hops || t.proxies.contain(addr)
}

// peerOf returns the peer's canonical address, or the zero Addr.
func peerOf(r ratelimit.Request) netip.Addr { return r.Peer().Addr().Unmap().WithZone("") }

// onlyLine returns the line of a header that a trusted proxy writes anew, and how
// many there are: 2 stands for more. Where it is not 1, none is the proxy's for sure.
func onlyLine(r ratelimit.Request, header string) (line string, lines int) {
	line, ok := r.HeaderLine(header, 0)
	if !ok {
		return "", 0
	}
	if _, second := r.HeaderLine(header, 1); second {
		return "", 2
	}
	return line, 1
}

// hint tells of an untrusted proxy.
type hint struct {
	watched []string // headers that only a proxy sends
	effect  string   // of not trusting the proxy, where it has an address
	text    atomic.Pointer[string]
}

// warn reports a watched header from a peer that looks like one's own proxy, and
// is not trusted. A client on the internet may send one as well; that means nothing.
func (h *hint) warn(r ratelimit.Request, peer netip.Addr) {
	if peer.IsValid() && !isLocal(peer) {
		return
	}
	for _, name := range h.watched {
		if _, ok := r.HeaderLine(name, 0); !ok {
			continue
		}
		text := h.text.Load()
		if text == nil {
			text = new(string)
			if peer.IsValid() {
				*text = fmt.Sprintf("%s arrives from %s, which is not trusted: %s; if it is your proxy, name it with keyfuncs.TrustProxies", name, peer, h.effect)
			} else {
				*text = name + " arrives over a connection without address, which is not trusted: its clients have no key; if it is your proxy's unix socket, give keyfuncs.TrustUnixSocket"
			}
			h.text.Store(text)
		}
		r.Misconfigured(ratelimit.CodeUntrustedProxy, *text)
		return
	}
}
