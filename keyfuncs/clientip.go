package keyfuncs

import (
	"net/netip"

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
		option.clientIP(c)
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
	trust
	hint   hint
	header string
	form   form
	v4, v6 int // bits that are kept
}

// finish checks the options together.
func (c *clientIP) finish() error {
	if c.header == "" {
		c.header = forwardedFor
	} else if c.nobody() {
		c.bad("FromHeader", "is read from trusted peers only: give TrustProxies too")
	}
	c.form = forms(c.header)
	c.hint.effect = "all clients behind it share one key"
	c.hint.watched = []string{forwardedFor, forwarded, "X-Real-Ip"}
	if c.form == formSingle || c.form == formViewer {
		c.fromPeerOnly(c.header)
		c.hint.watched = append(c.hint.watched, c.header)
	}
	return c.ready()
}

// The headers that hold a list: whoever is first in it wrote what it liked.
const (
	forwardedFor = "X-Forwarded-For"
	forwarded    = "Forwarded"
)

func forms(header string) form {
	switch header {
	case forwardedFor:
		return formList
	case forwarded:
		return formForwarded
	case "Cloudfront-Viewer-Address":
		return formViewer
	default:
		return formSingle
	}
}

// client returns the client's address, or the zero Addr.
func (c *clientIP) client(r ratelimit.Request) netip.Addr {
	peer := peerOf(r)
	if !c.trusts(peer, 0) {
		c.hint.warn(r, peer)
		return peer
	}
	if c.form == formSingle || c.form == formViewer {
		return c.single(r, peer)
	}
	return c.walk(r, peer)
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

// single reads a header that holds one address.
func (c *clientIP) single(r ratelimit.Request, peer netip.Addr) netip.Addr {
	line, lines := onlyLine(r, c.header)
	switch {
	case lines == 0:
		return peer
	case lines > 1:
		return netip.Addr{}
	case c.form == formViewer:
		return parseViewer(trim(line))
	default:
		return parseAddress(trim(line))
	}
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
