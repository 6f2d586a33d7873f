package keyfuncs_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/ratelimit/keyfuncs"
)

func TestHost(t *testing.T) {
	longest := strings.Repeat("a.", 126) + "b" // 253 bytes
	for _, c := range []struct{ host, want string }{
		{"example.com", "example.com"},
		{"Shop.EXAMPLE.com", "shop.example.com"},
		{"example.com:8080", "example.com"},
		{"example.com:", "example.com"},
		{"example.com.", "example.com"},
		{"example.com.:443", "example.com"},
		{"localhost", "localhost"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"_dmarc.my-app_1.internal", "_dmarc.my-app_1.internal"},
		{longest, longest},
		{longest + ".:65535", longest},
		{"203.0.113.7:80", "203.0.113.7"},
		{"[2001:DB8:0::1]", "2001:db8::1"},
		{"[2001:db8::1]:443", "2001:db8::1"},
		{"[2001:db8::1]:", "2001:db8::1"},
		{"[::ffff:203.0.113.7]", "203.0.113.7"},

		{"", none},
		{".", none},
		{":80", none},
		{"example..com", none},
		{".example.com", none},
		{"example.com..", none},
		{longest + "c", none},
		{strings.Repeat("a", 1<<20), none},
		{"example.com:http", none},
		{"example.com:65536", none},
		{"example.com:80:80", none},
		{"2001:db8::1", none},
		{"[2001:db8::1", none},
		{"[2001:db8::1]x", none},
		{"[203.0.113.7]", none},
		{"[]", none},
		{"user@example.com", none},
		{"example.com/path", none},
		{"exa mple.com", none},
		{"exam%70le.com", none},
		{"b\u00fccher.example", none},
		{"example.com\x00", none},
	} {
		if got := keyOf(keyfuncs.Host, with(host(c.host))); got != c.want {
			t.Errorf("%.80q: %.80s, want %.80s", c.host, got, c.want)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.:80", "a..b", "[2001:db8::1]:443", "[fe80::1%25eth0]", "[::ffff:1.2.3.4]:", "1.2.3.4:", ":", ".", "a:1:2", "[", "]", "x@y", "a%2eb", "\u212a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key := keyOf(keyfuncs.Host, with(host(s)))
		if upper := keyOf(keyfuncs.Host, with(host(upperASCII(s)))); upper != key {
			t.Fatalf("%q is %q, in upper case %q", s, key, upper)
		}
		if key == none {
			return
		}
		if key == "" || len(key) > 253 || strings.ContainsFunc(key, func(c rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.:", c) }) {
			t.Fatalf("%q: %q is no key for a host", s, key)
		}
		again := key
		if addr, err := netip.ParseAddr(key); err == nil && addr.Is6() {
			again = "[" + key + "]"
		}
		for _, same := range []string{again, again + ":8080"} {
			if got := keyOf(keyfuncs.Host, with(host(same))); got != key {
				t.Fatalf("%q is %q, and that is %q", s, key, got)
			}
		}
		// net/url agrees on where the host ends, if it takes it at all.
		u, err := url.Parse("http://" + s)
		if err != nil || strings.HasPrefix(s, "[") {
			return
		}
		if want := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")); key != want {
			t.Fatalf("%q is %q, net/url says %q", s, key, want)
		}
	})
}

// upperASCII is strings.ToUpper without what Unicode maps into ASCII or out of it.
func upperASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
