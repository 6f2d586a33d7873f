package keyfuncs_test

import (
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/realclientip/realclientip-go"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func FuzzClientIP(f *testing.F) {
	for _, s := range situations(f) {
		for _, lines := range s.Headers {
			if len(lines[0]) < 1000 {
				f.Add(lines[0], lines[len(lines)-1])
			}
		}
	}
	inner, proxy := netip.MustParsePrefix("10.0.0.0/8"), "10.0.1.20:34567"
	trust := keyfuncs.TrustPrefixes(inner)
	keys := map[string]ratelimit.KeyFunc{
		"X-Forwarded-For":           whole(trust),
		"Forwarded":                 whole(trust, keyfuncs.FromHeader("Forwarded")),
		"X-Real-Ip":                 whole(trust, keyfuncs.FromHeader("X-Real-IP")),
		"Cloudfront-Viewer-Address": whole(trust, keyfuncs.FromHeader("CloudFront-Viewer-Address")),
	}
	send := func(remote, name string, lines ...string) *view {
		v := get(remote)
		v.request.Header[name] = lines
		return v
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		for name, key := range keys {
			got := keyOf(key, send(proxy, name, first, second))
			if addr, err := netip.ParseAddr(got); got != none && (err != nil || addr.String() != got || addr.Is4In6() || addr.Zone() != "") {
				t.Fatalf("%s: %q, %q: %s is no canonical address", name, first, second, got)
			}
			if direct := keyOf(key, send("203.0.113.7:51514", name, first, second)); direct != "203.0.113.7" {
				t.Fatalf("%s: %q, %q: an untrusted peer gets %s", name, first, second, direct)
			}
		}
		// A list reads the same in one line or two, and nothing to the left of
		// what a proxy appended matters.
		key := keys["X-Forwarded-For"]
		two, one := keyOf(key, send(proxy, "X-Forwarded-For", first, second)), keyOf(key, send(proxy, "X-Forwarded-For", first+","+second))
		if two != one {
			t.Fatalf("%q, %q: %s in two lines, %s in one", first, second, two, one)
		}
		for name, element := range map[string]string{"X-Forwarded-For": "203.0.113.7, 10.0.0.9", "Forwarded": `for="203.0.113.7:80", for=10.0.0.9`} {
			for _, v := range []*view{send(proxy, name, first, second, element), send(proxy, name, first, second+","+element)} {
				if got := keyOf(keys[name], v); got != "203.0.113.7" {
					t.Fatalf("%s: %q, %q: %s, want what the proxy appended", name, first, second, got)
				}
			}
		}
	})
}

// realclientip-go is the reference where both rules agree: it tells no answer
// where all are trusted, and takes an empty element for an unreadable one.
func TestClientIPAgainstRealClientIP(t *testing.T) {
	ranges := []string{"10.0.0.0/8", "2001:db8:1::/48"}
	nets, err := realclientip.AddressesAndRangesToIPNets(ranges...)
	if err != nil {
		t.Fatal(err)
	}
	reference := realclientip.Must(realclientip.NewRightmostTrustedRangeStrategy("X-Forwarded-For", nets))
	key := whole(keyfuncs.TrustProxies(ranges...))
	trusted := []string{"10.0.0.9", "10.255.0.1:8080", "::ffff:10.0.0.3", "2001:db8:1::5", "[2001:DB8:1::6]:443", "[2001:db8:1::7]"}
	elements := append([]string{
		"203.0.113.7", "203.0.113.7:51514", "::ffff:203.0.113.7", "2001:db8:2::1", "[2001:db8:2:0:0::1]:443", "[2001:db8:3::2]", "198.51.100.99",
		"unknown", "203.0.113.256", "010.0.0.1", "unix:", "garbage", "127.0.0.1",
	}, trusted...)

	random := rand.New(rand.NewPCG(1, 2))
	answers := 0
	for range 20_000 {
		var lines []string
		for range 1 + random.IntN(3) {
			var line []string
			for range 1 + random.IntN(4) {
				from := elements
				if random.IntN(2) == 0 {
					from = trusted
				}
				line = append(line, from[random.IntN(len(from))])
			}
			lines = append(lines, strings.Join(line, []string{",", ", ", "\t,  "}[random.IntN(3)]))
		}
		v := get("10.0.1.20:34567")
		v.request.Header["X-Forwarded-For"] = lines
		got, want := keyOf(key, v), reference.ClientIP(http.Header{"X-Forwarded-For": lines}, "")
		if want == "" {
			if addr, err := netip.ParseAddr(got); got != none && (err != nil || !netip.MustParsePrefix(ranges[0]).Contains(addr) && !netip.MustParsePrefix(ranges[1]).Contains(addr)) {
				t.Fatalf("%q: %s, the reference has no answer", lines, got)
			}
			continue
		}
		answers++
		if got != want {
			t.Fatalf("%q: %s, the reference says %s", lines, got, want)
		}
	}
	if answers < 5_000 {
		t.Errorf("only %d lists with an answer", answers)
	}
}
