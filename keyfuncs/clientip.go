package keyfuncs

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// ClientIP returns a key function that counts by the client's address.
//
// Without options that is the peer of the connection, and no header is read: any
// client can write one. Behind proxies, name them with [TrustProxies]. Then, where
// the peer is one of them, X-Forwarded-For is walked from the right, over all its
// lines, to the first address that is not; where all are trusted, to the
// left-most; where there is none, the peer is the client. Empty elements are
// skipped. An element that is no address ends the walk: the request has no key.
// [FromHeader] reads another header.
//
// IPv6 is counted by /64, since that is what one household or host gets, and IPv4
// by single address: [IPv6Prefix] and [IPv4Prefix] change it. The key is the
// canonical text: "203.0.113.7", "2001:db8:0:1::/64". IPv4-mapped addresses count
// as IPv4; ports and zones are dropped.
//
// A peer without address, as on a unix socket, has no key unless
// [TrustUnixSocket] is given. A forwarding header from a private address, or a
// unix socket, that is not trusted is reported as [ratelimit.CodeUntrustedProxy].
//
// ClientIP panics on options that cannot work, with all mistakes joined.
func ClientIP(options ...ClientIPOption) ratelimit.KeyFunc {
	c := &clientIP{v4: 32, v6: 64}
	for _, option := range options {
		option(c)
	}
	if err := c.finish(); err != nil {
		panic(err)
	}
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		addr := c.client(r)
		if !addr.IsValid() {
			return dst, ratelimit.ErrNoKey
		}
		return c.append(dst, addr), nil
	}
}

// form is how a header tells the client.
type form uint8

const (
	formList      form = iota // X-Forwarded-For: addresses, each hop appends its peer
	formForwarded             // Forwarded: the same in RFC 7239's syntax
	formSingle                // one address
	formViewer                // CloudFront-Viewer-Address: one address and a port, without brackets
)

type clientIP struct {
	proxies prefixes
	hops    int  // this many hops are trusted whoever they are, the peer first
	unix    bool // so is a peer without address
	header  string
	form    form
	v4, v6  int // bits that are kept

	mistakes []error
	watched  []string               // forwarding headers that only a proxy sends
	hint     atomic.Pointer[string] // what is said about an untrusted proxy
}

// finish checks the options together.
func (c *clientIP) finish() error {
	c.proxies = c.proxies.merged()
	if c.header == "" {
		c.header = forwardedFor
	} else if len(c.proxies) == 0 && c.hops == 0 && !c.unix {
		c.mistakes = append(c.mistakes, mistake("FromHeader", "is read from trusted peers only: give TrustProxies too"))
	}
	c.form = forms(c.header)
	if c.hops > 1 && (c.form == formSingle || c.form == formViewer) {
		c.mistakes = append(c.mistakes, mistake("UnsafeTrustHops", "must be 1 with %s, which tells one address, is %d", c.header, c.hops))
	}
	c.watched = []string{forwardedFor, "Forwarded", "X-Real-Ip"}
	if c.form == formSingle || c.form == formViewer {
		c.watched = append(c.watched, c.header)
	}
	return errors.Join(c.mistakes...)
}

const forwardedFor = "X-Forwarded-For"

func forms(header string) form {
	switch header {
	case forwardedFor:
		return formList
	case "Forwarded":
		return formForwarded
	case "Cloudfront-Viewer-Address":
		return formViewer
	default:
		return formSingle
	}
}

// client returns the client's address, or the zero Addr.
func (c *clientIP) client(r ratelimit.Request) netip.Addr {
	peer := r.Peer().Addr().Unmap().WithZone("")
	if !c.trusts(peer, 0) {
		c.warn(r, peer)
		return peer
	}
	if c.form == formSingle || c.form == formViewer {
		return c.single(r, peer)
	}
	return c.walk(r, peer)
}

// trusts reports whether the hop-th address, the peer being 0, is a proxy's.
func (c *clientIP) trusts(addr netip.Addr, hop int) bool {
	if !addr.IsValid() { // only a peer can be
		return c.unix
	}
	return hop < c.hops || c.proxies.contain(addr)
}

// walk goes from the peer to the client, hop by hop.
func (c *clientIP) walk(r ratelimit.Request, peer netip.Addr) netip.Addr {
	lines := 0
	for {
		if _, ok := r.HeaderLine(c.header, lines); !ok {
			break
		}
		lines++
	}
	addr, hop := peer, 0
	for i := lines - 1; i >= 0; i-- {
		rest, _ := r.HeaderLine(c.header, i)
		for rest != "" {
			var element string
			if c.form == formForwarded {
				rest, element = cutForwarded(rest)
			} else {
				rest, element = cutElement(rest)
			}
			if element = trim(element); element == "" {
				continue
			}
			if c.form == formForwarded {
				addr = parseForwarded(element)
			} else {
				addr = parseAddress(element)
			}
			hop++
			if !addr.IsValid() || !c.trusts(addr, hop) {
				return addr
			}
		}
	}
	return addr
}

// single reads a header that holds one address. The proxy writes it anew, so a
// second line is a client's.
func (c *clientIP) single(r ratelimit.Request, peer netip.Addr) netip.Addr {
	line, ok := r.HeaderLine(c.header, 0)
	if !ok {
		return peer
	}
	if _, second := r.HeaderLine(c.header, 1); second {
		return netip.Addr{}
	}
	if c.form == formViewer {
		return parseViewer(trim(line))
	}
	return parseAddress(trim(line))
}

func (c *clientIP) append(dst []byte, addr netip.Addr) []byte {
	bits := c.v6
	if addr.Is4() {
		bits = c.v4
	}
	if bits == addr.BitLen() {
		return addr.AppendTo(dst)
	}
	group, _ := addr.Prefix(bits) // in range: the options were checked
	return group.AppendTo(dst)
}

// warn reports a forwarding header from a peer that looks like one's own proxy.
// A client on the internet may send one as well; that means nothing.
func (c *clientIP) warn(r ratelimit.Request, peer netip.Addr) {
	if peer.IsValid() && !isLocal(peer) {
		return
	}
	for _, name := range c.watched {
		if _, ok := r.HeaderLine(name, 0); !ok {
			continue
		}
		hint := c.hint.Load()
		if hint == nil {
			hint = new(string)
			if peer.IsValid() {
				*hint = fmt.Sprintf("%s arrives from %s, which is not trusted: all clients behind it share one key; if it is your proxy, name it with keyfuncs.TrustProxies", name, peer)
			} else {
				*hint = name + " arrives over a connection without address, which is not trusted: its clients have no key; if it is your proxy's unix socket, give keyfuncs.TrustUnixSocket"
			}
			c.hint.Store(hint)
		}
		r.Misconfigured(ratelimit.CodeUntrustedProxy, *hint)
		return
	}
}
