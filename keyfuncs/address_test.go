package keyfuncs

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// canonical reports whether addr may become a key.
func canonical(addr netip.Addr) bool {
	back, err := netip.ParseAddr(addr.String())
	return err == nil && back == addr && addr.Zone() == "" && !addr.Is4In6()
}

// byNetip is the rule for an element of X-Forwarded-For in terms of net/netip.
func byNetip(s string) netip.Addr {
	addr, err := netip.ParseAddr(s)
	if err != nil {
		var p netip.AddrPort
		p, err = netip.ParseAddrPort(s)
		addr = p.Addr()
	}
	if err != nil && strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		if addr, err = netip.ParseAddr(s[1 : len(s)-1]); addr.Is4() {
			return netip.Addr{}
		}
	}
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{
		"203.0.113.7", "203.0.113.7:0", "203.0.113.7:65535", "203.0.113.7:65536", "203.0.113.7:", "203.0.113.7:00080", "203.0.113.7:+1",
		"010.0.0.1", "203.0.113.7%eth0", "[203.0.113.7]", "[203.0.113.7]:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80", "[2001:db8::1]80",
		"[2001:db8::1]:", "[2001:db8::1", "2001:db8::1]", "[]", "[]:80", "[", "]", ":", "::", "::%", "fe80::1%eth0", "fe80::1%e:80", "[fe80::1%25e]:80",
		"[fe80::1%a]b]:80", "[fe80::1%a]:80]", "[fe80::1%[]", "::ffff:203.0.113.7", "[::ffff:203.0.113.7]:1", "::ffff:1.2.3.4%eth0", "1:2:3:4:5:6:7:8:9", "1.2.3.4:80%::", "",
		"0000:0000:0000:0000:0000:ffff:255.255.255.255",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, want := parseAddress(s), byNetip(s)
		if got != want {
			t.Fatalf("parseAddress(%q) = %v, want %v", s, got, want)
		}
		if got.IsValid() && !canonical(got) {
			t.Fatalf("parseAddress(%q) = %v is not canonical", s, got)
		}
	})
}

func FuzzParseViewer(f *testing.F) {
	for _, s := range []string{"203.0.113.7:46532", "2001:db8::9:9985", "[2001:db8::9]:9985", "2001:db8:1:2:3:4:5:6:443", "203.0.113.7", ":443", "::1", "[::1", "[203.0.113.7]:80", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := parseViewer(s); got.IsValid() && !canonical(got) {
			t.Fatalf("parseViewer(%q) = %v is not canonical", s, got)
		}
		if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
			if got := parseViewer(s + ":443"); got != addr.Unmap() {
				t.Fatalf("parseViewer(%q) = %v, want %v", s+":443", got, addr.Unmap())
			}
		}
	})
}

// wellFormed is RFC 7239's list, with the white space and the unquoted colons that
// proxies are known to write.
var wellFormed = func() *regexp.Regexp {
	pair := `[\w.-]+=(?:"(?:[^"\\]|\\.)*"|[^"\\;, \t]*)`
	element := `[ \t]*(?:` + pair + `(?:[ \t]*;[ \t]*(?:` + pair + `)?)*)?[ \t]*`
	return regexp.MustCompile(`(?s)^` + element + `(?:,` + element + `)*$`)
}()

// splitForwarded splits a well-formed list from the left, as its grammar reads.
func splitForwarded(s string) (elements []string) {
	quoted, from := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			elements, from = append(elements, s[from:i]), i+1
		}
	}
	return append(elements, s[from:])
}

func FuzzForwarded(f *testing.F) {
	for _, s := range []string{
		"for=192.0.2.43", `For="[2001:db8:cafe::17]:4711"`, "for=192.0.2.60;proto=http;by=203.0.113.43", `for=192.0.2.43, for="[2001:db8:cafe::17]"`,
		"for=unknown", `for="_gazonk"`, `for="203.0.113.7:_p1"`, `for="\[2001:db8::1\]"`, `for="203.0.113.7, for=10.0.0.9`, `for=1.2.3.4;for=5.6.7.8`,
		`a="x,y\"z,\\";for=1.2.3.4,for=5.6.7.8`, `"`, `\"`, `for="\\"`, `for=""`, "for=", "=", ";", ",", "for", `for="1.2.3.4"x`, "for=203.0.113.7:80", "for=2001:db8::1",
		"for=[2001:db8::1]:80", `for="[203.0.113.7]"`, "for =1.2.3.4", `for= "1.2.3.4"`, `for="203.0.113.7:_"`, `for="203.0.113.7:000080"`, `for="203.0.113.7" ; proto=https`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var elements []string
		for rest := s; rest != ""; {
			var element string
			before := len(rest)
			if rest, element = cutForwarded(rest); len(rest) >= before {
				t.Fatalf("no progress on %q", s)
			}
			elements = append(elements, element)
			if addr := parseForwarded(element); addr.IsValid() && !canonical(addr) {
				t.Fatalf("parseForwarded(%q) = %v is not canonical", element, addr)
			}
		}
		if slices.Reverse(elements); wellFormed.MatchString(s) {
			want := splitForwarded(s)
			if len(want[0]) == 0 && len(elements) < len(want) {
				want = want[1:] // nothing before a leading comma
			}
			if !slices.Equal(elements, want) {
				t.Fatalf("%q splits into %q, want %q", s, elements, want)
			}
		}
		// Whatever a client wrote, what a proxy appends reads the same.
		for _, element := range []string{"for=203.0.113.7", `for="[2001:db8::1]:4711";proto=https`} {
			if rest, got := cutForwarded(s + "," + element); got != element || rest != s {
				t.Fatalf("last element of %q is %q, want %q", s+","+element, got, element)
			}
		}
	})
}

func TestParseForwarded(t *testing.T) {
	for _, c := range []struct{ element, want string }{
		{"for=192.0.2.43", "192.0.2.43"},
		{"FOR=192.0.2.43;proto=http;by=203.0.113.43", "192.0.2.43"},
		{"proto=https; for=192.0.2.43 ;host=\"a;b=\\\"c\\\"\"", "192.0.2.43"},
		{"for=192.0.2.43:4711", "192.0.2.43"},
		{`for="192.0.2.43:_secret-1.x"`, "192.0.2.43"},
		{`for="[2001:DB8::1]"`, "2001:db8::1"},
		{`for="[::ffff:192.0.2.43]:1"`, "192.0.2.43"},
		{`for="\1\9\2.0.2.43"`, "192.0.2.43"},
		{"for=unknown", "invalid IP"},
		{"for=_hidden", "invalid IP"},
		{"for=", "invalid IP"},
		{`for=""`, "invalid IP"},
		{"for", "invalid IP"},
		{"for=192.0.2.43;proto", "invalid IP"},
		{"for=192.0.2.43;for=192.0.2.43", "invalid IP"},
		{"for =192.0.2.43", "invalid IP"},
		{"for=192.0.2.43 x=y", "invalid IP"},
		{`for="192.0.2.43"x`, "invalid IP"},
		{`for="192.0.2.43`, "invalid IP"},
		{`for="192.0.2.43\"`, "invalid IP"},
		{`for=2001:db8::1`, "invalid IP"}, // where does a port begin?
		{`for="2001:db8::1"`, "invalid IP"},
		{`for="[192.0.2.43]"`, "invalid IP"},
		{`for="192.0.2.43:"`, "invalid IP"},
		{`for="192.0.2.43:_"`, "invalid IP"},
		{`for="192.0.2.43:_a b"`, "invalid IP"},
		{`for="192.0.2.43:65536"`, "invalid IP"},
		{`for="192.0.2.43:000080"`, "invalid IP"},
		{`for="` + strings.Repeat(`\1`, 200) + `"`, "invalid IP"},
		{"proto=https;by=10.0.0.5", "invalid IP"},
	} {
		if got := parseForwarded(c.element).String(); got != c.want {
			t.Errorf("parseForwarded(%q) = %s, want %s", c.element, got, c.want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	var list prefixes
	for _, s := range []string{"10.1.0.0/16", "192.0.2.7/32", "10.0.0.0/8", "10.0.0.0/30", "2001:db8::/32", "2001:db8:5::/48", "::1/128", "10.0.0.0/8"} {
		list = append(list, netip.MustParsePrefix(s))
	}
	merged := list.merged()
	if len(merged) != 4 {
		t.Errorf("merged to %v, want the four that no other holds", merged)
	}
	for _, s := range []string{
		"0.0.0.0", "9.255.255.255", "10.0.0.0", "10.1.2.3", "10.255.255.255", "11.0.0.0", "192.0.2.6", "192.0.2.7", "192.0.2.8", "255.255.255.255",
		"::", "::1", "::2", "2001:db7:ffff::", "2001:db8::", "2001:db8:5::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "ffff::",
	} {
		addr := netip.MustParseAddr(s)
		want := slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
		if got := merged.contain(addr); got != want {
			t.Errorf("%s: %t, want %t", s, got, want)
		}
	}
	if prefixes(nil).merged().contain(netip.MustParseAddr("10.0.0.1")) {
		t.Error("the empty set holds an address")
	}
}
