package keyfuncs

import (
	"net/netip"
)

// ClientIPOption changes what [ClientIP] trusts, reads and appends.
type ClientIPOption func(*clientIP)

// TrustProxies trusts the proxies at the given addresses and CIDR prefixes, such
// as "10.0.0.0/8" or "2001:db8::1", to tell who their own peer is. Name what is
// yours or your provider's, and nothing that a client can connect from. Bits
// beyond a prefix's length are ignored; IPv4-mapped prefixes count as IPv4.
//
// ClientIP panics where one cannot be parsed. For a list that is read at run
// time, parse it with [netip.ParsePrefix] and give it to [TrustPrefixes].
func TrustProxies(cidrs ...string) ClientIPOption {
	return func(c *clientIP) {
		for _, cidr := range cidrs {
			prefix, err := netip.ParsePrefix(cidr)
			if err != nil {
				var addr netip.Addr
				addr, err = netip.ParseAddr(cidr)
				prefix = netip.PrefixFrom(addr, addr.BitLen())
				if addr.Zone() != "" {
					c.bad("TrustProxies", "has %q: an address with a zone cannot be trusted", cidr)
					continue
				}
			}
			if err != nil {
				c.bad("TrustProxies", "has %q, which is neither an address nor a prefix such as 10.0.0.0/8", cidr)
				continue
			}
			c.trust("TrustProxies", prefix)
		}
	}
}

// TrustPrefixes is [TrustProxies] for prefixes that are parsed already.
func TrustPrefixes(list ...netip.Prefix) ClientIPOption {
	return func(c *clientIP) {
		for _, prefix := range list {
			c.trust("TrustPrefixes", prefix)
		}
	}
}

func (c *clientIP) trust(option string, prefix netip.Prefix) {
	switch addr := prefix.Addr(); {
	case !prefix.IsValid():
		c.bad(option, "has an invalid prefix")
	case !addr.Is4In6():
		c.proxies = append(c.proxies, prefix.Masked())
	case prefix.Bits() < 96:
		c.bad(option, "has %v, which holds more than IPv4-mapped addresses: give the IPv4 and the IPv6 prefix apart", prefix)
	default:
		c.proxies = append(c.proxies, netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96).Masked())
	}
}

// TrustUnixSocket trusts a peer that has no address, as a proxy on the same host
// has that connects over a unix socket.
func TrustUnixSocket() ClientIPOption { return func(c *clientIP) { c.unix = true } }

// UnsafeTrustHops trusts the nearest n hops, at least 1, whoever they are: with 1
// the peer, with 2 the proxy before it as well. It is for platforms that do not
// publish their proxies' addresses.
//
// It is unsafe since it holds only while every request passes through exactly n
// proxies: who reaches the app by a shorter way chooses his own key. Prefer
// [TrustProxies]; both together trust a hop that either does.
func UnsafeTrustHops(n int) ClientIPOption {
	return func(c *clientIP) {
		if n < 1 {
			c.bad("UnsafeTrustHops", "must be at least 1, is %d", n)
		}
		c.hops = n
	}
}

// FromHeader reads the client from the header called name instead of
// X-Forwarded-For, in any case of letters, and as ever only from a trusted peer:
//
//   - Forwarded (RFC 7239) is walked as X-Forwarded-For is, by the "for" of its
//     elements. One without an address there ends the walk.
//   - CloudFront-Viewer-Address holds one address and a port.
//   - Any other, such as CF-Connecting-IP, Fly-Client-IP, True-Client-IP or
//     X-Real-IP, holds one address. Make sure that your proxy always overwrites it.
//
// A header with one address that comes twice is a forgery: the request has no
// key. Where it does not come at all the peer is the client.
func FromHeader(name string) ClientIPOption {
	return func(c *clientIP) {
		switch {
		case c.header != "":
			c.bad("FromHeader", "is given twice: %s and %s", c.header, name)
		case !isToken(name):
			c.bad("FromHeader", "needs the name of a header, has %q", name)
		default:
			c.header = headerName("FromHeader", name)
		}
	}
}

// IPv6Prefix counts IPv6 clients by the first bits of their address, 1 to 128,
// instead of 64. Providers hand out a /56 or /48 to some customers.
func IPv6Prefix(bits int) ClientIPOption {
	return func(c *clientIP) {
		if bits < 1 || bits > 128 {
			c.bad("IPv6Prefix", "must be 1 to 128, is %d", bits)
		}
		c.v6 = bits
	}
}

// IPv4Prefix counts IPv4 clients by the first bits of their address, 1 to 32,
// instead of 32.
func IPv4Prefix(bits int) ClientIPOption {
	return func(c *clientIP) {
		if bits < 1 || bits > 32 {
			c.bad("IPv4Prefix", "must be 1 to 32, is %d", bits)
		}
		c.v4 = bits
	}
}

func (c *clientIP) bad(option, format string, args ...any) {
	c.mistakes = append(c.mistakes, mistake(option, format, args...))
}
