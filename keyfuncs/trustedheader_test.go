package keyfuncs_test

import (
	"fmt"
	"net/netip"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func TestTrustedHeader(t *testing.T) {
	trust := keyfuncs.TrustProxies("10.0.0.0/8", "2001:db8::1")
	country := keyfuncs.TrustedHeader("cf-ipcountry", trust)
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		view *view
		want string
	}{
		{"trusted", country, get("10.0.0.1:1", "CF-IPCountry: SE"), "SE"},
		{"trusted, IPv4-mapped", country, get("[::ffff:10.0.0.1]:1", "CF-IPCountry: SE"), "SE"},
		{"trusted, IPv6 with a zone", country, get("[2001:db8::1%eth0]:1", "CF-IPCountry: SE"), "SE"},
		{"white space", country, get("10.0.0.1:1", "CF-IPCountry: \tSE "), "SE"},
		{"missing", country, get("10.0.0.1:1"), none},
		{"empty", country, get("10.0.0.1:1", "CF-IPCountry: "), none},
		{"white space alone", country, get("10.0.0.1:1", "CF-IPCountry:  \t"), none},
		{"twice", country, get("10.0.0.1:1", "CF-IPCountry: SE", "CF-IPCountry: NO"), none},
		{"another header", country, get("10.0.0.1:1", "X-Country: SE"), none},
		{"untrusted", country, get("203.0.113.7:1", "CF-IPCountry: SE"), none},
		{"untrusted, private", country, get("192.168.0.1:1", "CF-IPCountry: SE"), none},
		{"untrusted, no address", country, get("@", "CF-IPCountry: SE"), none},
		{"X-Forwarded-For does not make a peer trusted", country, get("203.0.113.7:1", "X-Forwarded-For: 10.0.0.1", "CF-IPCountry: SE"), none},

		{"prefixes", keyfuncs.TrustedHeader("X-Score", keyfuncs.TrustPrefixes(netip.MustParsePrefix("10.0.0.0/8"))), get("10.0.0.1:1", "X-Score: 9"), "9"},
		{"unix socket", keyfuncs.TrustedHeader("X-Score", keyfuncs.TrustUnixSocket()), get("@", "X-Score: 9"), "9"},
		{"a peer beside the trusted unix socket", keyfuncs.TrustedHeader("X-Score", keyfuncs.TrustUnixSocket()), get("10.0.0.1:1", "X-Score: 9"), none},
		{"one hop", keyfuncs.TrustedHeader("X-Score", keyfuncs.UnsafeTrustHops(1)), get("192.0.2.1:1", "X-Score: 9"), "9"},
		{"hops do not cover a unix socket", keyfuncs.TrustedHeader("X-Score", keyfuncs.UnsafeTrustHops(1)), get("@", "X-Score: 9"), none},
	} {
		if got := keyOf(c.key, c.view); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// One option means the same to ClientIP and TrustedHeader.
func TestTrustIsShared(t *testing.T) {
	peers := []string{"10.0.0.1:1", "[::ffff:10.0.0.1]:1", "[fd00::1%eth0]:1", "203.0.113.7:1", "[2001:db8::1]:1", "@"}
	for name, option := range map[string]keyfuncs.TrustOption{
		"proxies":     keyfuncs.TrustProxies("10.0.0.0/8", "fd00::/8"),
		"prefixes":    keyfuncs.TrustPrefixes(netip.MustParsePrefix("2001:db8::/32")),
		"unix socket": keyfuncs.TrustUnixSocket(),
		"hop":         keyfuncs.UnsafeTrustHops(1),
	} {
		address, header := whole(option, keyfuncs.FromHeader("X-Client")), keyfuncs.TrustedHeader("X-Client", option)
		for _, peer := range peers {
			v := get(peer, "X-Client: 198.51.100.99")
			if a, h := keyOf(address, v) == "198.51.100.99", keyOf(header, v) == "198.51.100.99"; a != h {
				t.Errorf("%s: ClientIP trusts %s: %t, TrustedHeader: %t", name, peer, a, h)
			}
		}
	}
}

func TestClientCannotWriteATrustedHeader(t *testing.T) {
	key := keyfuncs.TrustedHeader("CF-IPCountry", keyfuncs.TrustProxies("10.0.0.0/8"))
	for i := range 100 {
		v := get("203.0.113.7:51514", fmt.Sprintf("CF-IPCountry: X%d", i), "X-Forwarded-For: 10.0.0.1")
		if got := keyOf(key, v); got != none {
			t.Fatalf("a client is counted as %s", got)
		}
	}
}

func TestTrustedHeaderMistakes(t *testing.T) {
	trust := keyfuncs.TrustProxies("10.0.0.0/8")
	for _, c := range []struct {
		name    string
		header  string
		options []keyfuncs.TrustOption
		want    string
	}{
		{"no name", "", []keyfuncs.TrustOption{trust}, `ratelimit: keyfuncs.TrustedHeader needs the name of a header, has ""`},
		{"nobody", "CF-IPCountry", nil, "ratelimit: keyfuncs.TrustedHeader is read from trusted peers only: give TrustProxies too"},
		{"empty list", "CF-IPCountry", []keyfuncs.TrustOption{keyfuncs.TrustProxies()}, "ratelimit: keyfuncs.TrustedHeader is read from trusted peers only: give TrustProxies too"},
		{"hops", "CF-IPCountry", []keyfuncs.TrustOption{keyfuncs.UnsafeTrustHops(2)}, "ratelimit: keyfuncs.UnsafeTrustHops must be 1 with Cf-Ipcountry, which is believed from the peer alone, is 2"},
		{"X-Forwarded-For", "x-forwarded-for", []keyfuncs.TrustOption{trust}, "ratelimit: keyfuncs.TrustedHeader cannot be X-Forwarded-For, which holds what clients wrote: give ClientIP"},
		{"Forwarded", "forwarded", []keyfuncs.TrustOption{trust}, "ratelimit: keyfuncs.TrustedHeader cannot be Forwarded, which holds what clients wrote: give ClientIP"},
		{
			"several", "X Y",
			[]keyfuncs.TrustOption{trust, keyfuncs.TrustProxies("10.0.0.0/33")},
			`ratelimit: keyfuncs.TrustProxies has "10.0.0.0/33", which is neither an address nor a prefix such as 10.0.0.0/8` + "\n" + `ratelimit: keyfuncs.TrustedHeader needs the name of a header, has "X Y"`,
		},
	} {
		err := panicOf(t, func() { keyfuncs.TrustedHeader(c.header, c.options...) })
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: panic with %v, want %s", c.name, err, c.want)
		}
	}
}
