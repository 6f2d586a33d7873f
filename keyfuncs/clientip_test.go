package keyfuncs_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// whole counts by whole addresses, as the cases of testdata tell them.
func whole(options ...keyfuncs.ClientIPOption) ratelimit.KeyFunc {
	return keyfuncs.ClientIP(append(options, keyfuncs.IPv6Prefix(128))...)
}

type situation struct {
	ID      string              `json:"id"`
	Remote  string              `json:"remote_addr"`
	Headers map[string][]string `json:"headers"`
	Trusted []string            `json:"trusted"`
	Want    *string             `json:"want"`
	Alt     *struct {
		Header string  `json:"header"`
		Want   *string `json:"want"`
	} `json:"alt"`
}

func situations(t testing.TB) (all []situation) {
	t.Helper()
	f, err := os.Open("testdata/clientip.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s situation
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s situation) view() *view {
	return &view{request: &http.Request{Header: s.Headers}, peer: peer(s.Remote)}
}

func TestClientIPSituations(t *testing.T) {
	orNone := func(want *string) string {
		if want == nil {
			return none
		}
		return *want
	}
	all := situations(t)
	if len(all) != 140 {
		t.Errorf("%d situations, want 140", len(all))
	}
	for _, s := range all {
		trust := keyfuncs.TrustProxies(s.Trusted...)
		if got, want := keyOf(whole(trust), s.view()), orNone(s.Want); got != want {
			t.Errorf("%s: %s, want %s", s.ID, got, want)
		}
		if s.Alt == nil {
			continue
		}
		for _, name := range []string{s.Alt.Header, strings.ToLower(s.Alt.Header), strings.ToUpper(s.Alt.Header)} {
			if got, want := keyOf(whole(trust, keyfuncs.FromHeader(name)), s.view()), orNone(s.Alt.Want); got != want {
				t.Errorf("%s from %s: %s, want %s", s.ID, name, got, want)
			}
		}
	}
}

func TestClientIPOptions(t *testing.T) {
	trust := keyfuncs.TrustProxies("10.0.0.0/8")
	from := keyfuncs.FromHeader
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		view *view
		want string
	}{
		{"single header missing", whole(trust, from("X-Real-IP")), get("10.0.0.1:1"), "10.0.0.1"},
		{"single header empty", whole(trust, from("X-Real-IP")), get("10.0.0.1:1", "X-Real-IP: "), none},
		{"single header with white space", whole(trust, from("X-Real-IP")), get("10.0.0.1:1", "X-Real-IP: \t203.0.113.7 "), "203.0.113.7"},
		{"single header with a list", whole(trust, from("X-Real-IP")), get("10.0.0.1:1", "X-Real-IP: 203.0.113.7, 203.0.113.8"), none},
		{"single header, X-Forwarded-For is not read", whole(trust, from("X-Real-IP")), get("10.0.0.1:1", "X-Forwarded-For: 203.0.113.7"), "10.0.0.1"},
		{"single header from an untrusted peer", whole(trust, from("X-Real-IP")), get("192.0.2.1:1", "X-Real-IP: 203.0.113.7"), "192.0.2.1"},
		{"X-Forwarded-For by name", whole(trust, from("x-forwarded-for")), get("10.0.0.1:1", "X-Forwarded-For: 203.0.113.7, 10.0.0.2"), "203.0.113.7"},
		{"viewer without port", whole(trust, from("CloudFront-Viewer-Address")), get("10.0.0.1:1", "CloudFront-Viewer-Address: 203.0.113.7"), none},
		{"viewer in brackets", whole(trust, from("CloudFront-Viewer-Address")), get("10.0.0.1:1", "CloudFront-Viewer-Address: [2001:db8::1]:443"), "2001:db8::1"},
		{"Forwarded over lines", whole(trust, from("Forwarded")), get("10.0.0.1:1", "Forwarded: for=203.0.113.7", "Forwarded: for=10.0.0.9, "), "203.0.113.7"},
		{"Forwarded, an open quote in an earlier line", whole(trust, from("Forwarded")), get("10.0.0.1:1", `Forwarded: for="`, "Forwarded: for=203.0.113.7"), "203.0.113.7"},
		{"Forwarded, an open quote to the left", whole(trust, from("Forwarded")), get("10.0.0.1:1", `Forwarded: for="198.51.100.99, for="[2001:db8::1]:80"`), "2001:db8::1"},

		{"unix socket", whole(trust), get("@", "X-Forwarded-For: 203.0.113.7"), none},
		{"unix socket, trusted", whole(keyfuncs.TrustUnixSocket()), get("@", "X-Forwarded-For: 198.51.100.99, 203.0.113.7"), "203.0.113.7"},
		{"unix socket, trusted, single header", whole(keyfuncs.TrustUnixSocket(), from("X-Real-IP")), get("@", "X-Real-IP: 203.0.113.7"), "203.0.113.7"},
		{"unix socket, trusted, no header", whole(keyfuncs.TrustUnixSocket()), get("@"), none},
		{"unix socket trusted, but another peer", whole(keyfuncs.TrustUnixSocket()), get("192.0.2.1:1", "X-Forwarded-For: 203.0.113.7"), "192.0.2.1"},

		{"one hop", whole(keyfuncs.UnsafeTrustHops(1)), get("192.0.2.1:1", "X-Forwarded-For: 198.51.100.99, 203.0.113.7"), "203.0.113.7"},
		{"two hops", whole(keyfuncs.UnsafeTrustHops(2)), get("192.0.2.1:1", "X-Forwarded-For: 198.51.100.99, 203.0.113.7"), "198.51.100.99"},
		{"two hops over lines", whole(keyfuncs.UnsafeTrustHops(2)), get("192.0.2.1:1", "X-Forwarded-For: 203.0.113.7", "X-Forwarded-For: ,192.0.2.44,"), "203.0.113.7"},
		{"more hops than entries", whole(keyfuncs.UnsafeTrustHops(9)), get("192.0.2.1:1", "X-Forwarded-For: 203.0.113.7, 192.0.2.44"), "203.0.113.7"},
		{"hops without header", whole(keyfuncs.UnsafeTrustHops(1)), get("192.0.2.1:1"), "192.0.2.1"},
		{"an unreadable hop", whole(keyfuncs.UnsafeTrustHops(2)), get("192.0.2.1:1", "X-Forwarded-For: 203.0.113.7, unix:"), none},
		{"hops do not cover a unix socket", whole(keyfuncs.UnsafeTrustHops(1)), get("@", "X-Forwarded-For: 203.0.113.7"), none},
		{"one hop, single header", whole(keyfuncs.UnsafeTrustHops(1), from("Fly-Client-IP")), get("192.0.2.1:1", "Fly-Client-IP: 203.0.113.7"), "203.0.113.7"},
		{"one hop or a proxy", whole(keyfuncs.UnsafeTrustHops(1), trust), get("192.0.2.1:1", "X-Forwarded-For: 203.0.113.7, 10.0.0.9"), "203.0.113.7"},

		{"a single trusted address", whole(keyfuncs.TrustProxies("2001:db8::1", "::ffff:192.0.2.1")), get("[2001:db8::1]:1", "X-Forwarded-For: 203.0.113.7, 192.0.2.1"), "203.0.113.7"},
		{"proxies given apart", whole(trust, keyfuncs.TrustPrefixes(netip.MustParsePrefix("192.0.2.1/24"))), get("192.0.2.9:1", "X-Forwarded-For: 203.0.113.7, 10.0.0.9"), "203.0.113.7"},

		{"IPv6 by /64", keyfuncs.ClientIP(trust), get("10.0.0.1:1", "X-Forwarded-For: 2001:DB8:0:0:1::1"), "2001:db8::/64"},
		{"IPv6 by /48", keyfuncs.ClientIP(keyfuncs.IPv6Prefix(48)), get("[2001:db8:1:2::3]:1"), "2001:db8:1::/48"},
		{"IPv4 by /24", keyfuncs.ClientIP(keyfuncs.IPv4Prefix(24)), get("[::ffff:203.0.113.7]:1"), "203.0.113.0/24"},
	} {
		if got := keyOf(c.key, c.view); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestClientIPMistakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []keyfuncs.ClientIPOption
		want    string
	}{
		{"no prefix", []keyfuncs.ClientIPOption{keyfuncs.TrustProxies("10.0.0.0/33")}, `keyfuncs.TrustProxies has "10.0.0.0/33", which is neither`},
		{"empty", []keyfuncs.ClientIPOption{keyfuncs.TrustProxies("")}, `keyfuncs.TrustProxies has "", which is neither`},
		{"zone", []keyfuncs.ClientIPOption{keyfuncs.TrustProxies("fe80::1%eth0")}, "zone cannot be trusted"},
		{"wider than mapped", []keyfuncs.ClientIPOption{keyfuncs.TrustProxies("::ffff:0:0/90")}, "apart"},
		{"zero prefix", []keyfuncs.ClientIPOption{keyfuncs.TrustPrefixes(netip.Prefix{})}, "keyfuncs.TrustPrefixes has an invalid prefix"},
		{"no hop", []keyfuncs.ClientIPOption{keyfuncs.UnsafeTrustHops(0)}, "keyfuncs.UnsafeTrustHops must be at least 1, is 0"},
		{"hops and one address", []keyfuncs.ClientIPOption{keyfuncs.UnsafeTrustHops(2), keyfuncs.FromHeader("X-Real-IP")}, "must be 1 with X-Real-Ip"},
		{"header without trust", []keyfuncs.ClientIPOption{keyfuncs.FromHeader("X-Real-IP")}, "give TrustProxies too"},
		{"no header", []keyfuncs.ClientIPOption{keyfuncs.FromHeader("X Real IP")}, `keyfuncs.FromHeader needs the name of a header, has "X Real IP"`},
		{"two headers", []keyfuncs.ClientIPOption{keyfuncs.TrustUnixSocket(), keyfuncs.FromHeader("A"), keyfuncs.FromHeader("B")}, "is given twice: A and B"},
		{"IPv6 bits", []keyfuncs.ClientIPOption{keyfuncs.IPv6Prefix(129)}, "keyfuncs.IPv6Prefix must be 1 to 128, is 129"},
		{"IPv4 bits", []keyfuncs.ClientIPOption{keyfuncs.IPv4Prefix(0)}, "keyfuncs.IPv4Prefix must be 1 to 32, is 0"},
	} {
		err := panicOf(t, func() { keyfuncs.ClientIP(c.options...) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: panic with %v, want %s", c.name, err, c.want)
		}
	}
}

// What a client that is not a proxy sends never matters.
func TestClientCannotChooseItsKey(t *testing.T) {
	for name, key := range map[string]ratelimit.KeyFunc{
		"default":   keyfuncs.ClientIP(),
		"proxies":   keyfuncs.ClientIP(keyfuncs.TrustProxies("10.0.0.0/8")),
		"header":    keyfuncs.ClientIP(keyfuncs.TrustProxies("10.0.0.0/8"), keyfuncs.FromHeader("CF-Connecting-IP")),
		"forwarded": keyfuncs.ClientIP(keyfuncs.TrustProxies("10.0.0.0/8"), keyfuncs.FromHeader("Forwarded")),
	} {
		for i := range 100 {
			v := get(
				"203.0.113.7:51514",
				fmt.Sprintf("X-Forwarded-For: 198.51.100.%d", i), "X-Forwarded-For: 10.0.0.1",
				fmt.Sprintf("Forwarded: for=198.51.100.%d", i),
				fmt.Sprintf("CF-Connecting-IP: 198.51.100.%d", i),
				fmt.Sprintf("X-Real-IP: 198.51.100.%d", i),
			)
			if got := keyOf(key, v); got != "203.0.113.7" {
				t.Fatalf("%s: %s, want the peer", name, got)
			}
		}
	}
}

func TestClientIPGroups(t *testing.T) {
	key := keyfuncs.ClientIP()
	groups := map[string]int{}
	for i := range 1000 {
		groups[keyOf(key, get(fmt.Sprintf("[2001:db8:0:1::%x]:443", i)))]++ // one household
		groups[keyOf(key, get(fmt.Sprintf("[::ffff:203.0.%d.%d]:443", i/250, i%250)))]++
	}
	if got := groups["2001:db8:0:1::/64"]; got != 1000 {
		t.Errorf("%d addresses of a /64 share its key, want 1000", got)
	}
	if got := len(groups); got != 1001 {
		t.Errorf("%d keys, want one for the /64 and one for each of 1000 IPv4-mapped addresses", got)
	}
	if mapped, plain := keyOf(key, get("[::ffff:203.0.0.7]:1")), keyOf(key, get("203.0.0.7:1")); mapped != plain {
		t.Errorf("IPv4-mapped is %s, plain is %s", mapped, plain)
	}
}
