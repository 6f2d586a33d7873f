package keyfuncs

// ClientIPOption changes what [ClientIP] trusts, reads and appends. Every
// [TrustOption] is one.
type ClientIPOption interface{ clientIP(*clientIP) }

type clientIPOption func(*clientIP)

func (o clientIPOption) clientIP(c *clientIP) { o(c) }

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
	return clientIPOption(func(c *clientIP) {
		switch {
		case c.header != "":
			c.bad("FromHeader", "is given twice: %s and %s", c.header, name)
		case !isToken(name):
			c.bad("FromHeader", "needs the name of a header, has %q", name)
		default:
			c.header = headerName("FromHeader", name)
		}
	})
}

// IPv6Prefix counts IPv6 clients by the first bits of their address, 1 to 128,
// instead of 64. Providers hand out a /56 or /48 to some customers.
func IPv6Prefix(bits int) ClientIPOption {
	return clientIPOption(func(c *clientIP) {
		if bits < 1 || bits > 128 {
			c.bad("IPv6Prefix", "must be 1 to 128, is %d", bits)
		}
		c.v6 = bits
	})
}

// IPv4Prefix counts IPv4 clients by the first bits of their address, 1 to 32,
// instead of 32.
func IPv4Prefix(bits int) ClientIPOption {
	return clientIPOption(func(c *clientIP) {
		if bits < 1 || bits > 32 {
			c.bad("IPv4Prefix", "must be 1 to 32, is %d", bits)
		}
		c.v4 = bits
	})
}
