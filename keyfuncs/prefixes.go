package keyfuncs

import (
	"cmp"
	"net/netip"
	"slices"
)

// prefixes is a set of addresses. Once merged it is sorted and no prefix holds
// another, so the one that may hold an address is found by bisection: providers
// publish hundreds.
type prefixes []netip.Prefix

// merged returns the set, of masked prefixes in any order, as contain needs it.
func (ps prefixes) merged() prefixes {
	ps = slices.Clone(ps)
	slices.SortFunc(ps, func(p, q netip.Prefix) int { // a wider prefix before those that it holds
		return cmp.Or(p.Addr().Compare(q.Addr()), cmp.Compare(p.Bits(), q.Bits()))
	})
	out := ps[:0]
	for _, p := range ps {
		if len(out) == 0 || !out[len(out)-1].Contains(p.Addr()) {
			out = append(out, p)
		}
	}
	return out
}

// contain reports whether addr, which has no zone, is in the set.
func (ps prefixes) contain(addr netip.Addr) bool {
	i, found := slices.BinarySearchFunc(ps, addr, func(p netip.Prefix, a netip.Addr) int { return p.Addr().Compare(a) })
	return found || i > 0 && ps[i-1].Contains(addr)
}

// sharedSpace is what carriers and overlay networks use inside (RFC 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// isLocal reports whether addr is one that no client on the internet has.
func isLocal(addr netip.Addr) bool {
	return addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() || sharedSpace.Contains(addr)
}
