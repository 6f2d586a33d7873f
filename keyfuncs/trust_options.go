package keyfuncs

import "net/netip"

// TrustOption names one's own proxies, whose headers may be believed: to [ClientIP]
// and to [TrustedHeader].
type TrustOption func(*trust)

func (o TrustOption) clientIP(c *clientIP) { o(&c.trust) }

// TrustProxies trusts the proxies at the given addresses and CIDR prefixes, such
// as "10.0.0.0/8" or "2001:db8::1", to tell who their own peer is. Name what is
// yours or your provider's, and nothing that a client can connect from. Bits
// beyond a prefix's length are ignored; IPv4-mapped prefixes count as IPv4.
//
// One that cannot be parsed is a panic. For a list that is read at run time, parse
// it with [netip.ParsePrefix] and give it to [TrustPrefixes].
func TrustProxies(cidrs ...string) TrustOption {
	return func(t *trust) {
		for _, cidr := range cidrs {
			prefix, err := netip.ParsePrefix(cidr)
			if err != nil {
				var addr netip.Addr
				addr, err = netip.ParseAddr(cidr)
				prefix = netip.PrefixFrom(addr, addr.BitLen())
				if addr.Zone() != "" {
					t.bad("TrustProxies", "has %q: an address with a zone cannot be trusted", cidr)
					continue
				}
			}
			if err != nil {
				t.bad("TrustProxies", "has %q, which is neither an address nor a prefix such as 10.0.0.0/8", cidr)
				continue
			}
			t.add("TrustProxies", prefix)
		}
	}
}

// TrustPrefixes is [TrustProxies] for prefixes that are parsed already.
func TrustPrefixes(list ...netip.Prefix) TrustOption {
	return func(t *trust) {
		for _, prefix := range list {
			t.add("TrustPrefixes", prefix)
		}
	}
}

func (t *trust) add(option string, prefix netip.Prefix) {
	switch addr := prefix.Addr(); {
	case !prefix.IsValid():
		t.bad(option, "has an invalid prefix")
	case !addr.Is4In6():
		t.proxies = append(t.proxies, prefix.Masked())
	case prefix.Bits() < 96:
		t.bad(option, "has %v, which holds more than IPv4-mapped addresses: give the IPv4 and the IPv6 prefix apart", prefix)
	default:
		t.proxies = append(t.proxies, netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96).Masked())
	}
}

// TrustUnixSocket trusts a peer that has no address, as a proxy on the same host
// has that connects over a unix socket.
func TrustUnixSocket() TrustOption { return func(t *trust) { t.unix = true } }

// UnsafeTrustHops trusts the nearest n hops, at least 1, whoever they are: with 1
// the peer, with 2 the proxy before it as well. It is for platforms that do not
// publish their proxies' addresses.
//
// It is unsafe since it holds only while every request passes through exactly n
// proxies: who reaches the app by a shorter way writes what the proxy would have. Prefer
// [TrustProxies]; both together trust a hop that either does.
func UnsafeTrustHops(n int) TrustOption {
	return func(t *trust) {
		if n < 1 {
			t.bad("UnsafeTrustHops", "must be at least 1, is %d", n)
		}
		t.hops = n
	}
}
