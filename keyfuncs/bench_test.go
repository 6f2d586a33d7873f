package keyfuncs_test

import (
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func TestKeysDoNotAllocate(t *testing.T) {
	trust := keyfuncs.TrustProxies("10.0.0.0/8", "fd00::/8", "192.0.2.0/24")
	from := keyfuncs.FromHeader
	walked := "X-Forwarded-For: junk, 203.0.113.7, 10.0.0.9:80,, [fd00::1%25eth0]:443, ::ffff:10.0.0.1"
	user := keyfuncs.User(func(r ratelimit.Request) string { return r.Header("X-User") })
	country := keyfuncs.TrustedHeader("CF-IPCountry", trust)
	long := strings.Repeat("x", 4096)
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		view *view
	}{
		{"IPv4", keyfuncs.ClientIP(), get("203.0.113.7:51514")},
		{"IPv6", keyfuncs.ClientIP(), get("[2001:db8:1:2:3:4:5:6%eth0]:51514")},
		{"IPv4-mapped by /24", keyfuncs.ClientIP(keyfuncs.IPv4Prefix(24)), get("[::ffff:203.0.113.7]:51514")},
		{"no address", keyfuncs.ClientIP(), get("@")},
		{"untrusted proxy", keyfuncs.ClientIP(), get("10.0.0.1:1", walked)},
		{"untrusted unix socket", keyfuncs.ClientIP(), get("@", walked)},
		{"walk to IPv4", keyfuncs.ClientIP(trust), get("10.0.0.1:1", walked, "X-Forwarded-For: 192.0.2.7")},
		{"walk to IPv6", keyfuncs.ClientIP(trust), get("[fd00::1]:1", "X-Forwarded-For: 2001:db8:1:2:3:4:5:6", "X-Forwarded-For: 10.0.0.9")},
		{"walk to no address", keyfuncs.ClientIP(trust), get("10.0.0.1:1", "X-Forwarded-For: unknown")},
		{"hops", keyfuncs.ClientIP(keyfuncs.UnsafeTrustHops(2)), get("10.0.0.1:1", walked)},
		{"Forwarded", keyfuncs.ClientIP(trust, from("Forwarded")), get("10.0.0.1:1", `Forwarded: for="[2001:db8::1]:80";proto=https, for=10.0.0.9`)},
		{"one address", keyfuncs.ClientIP(trust, from("CF-Connecting-IP")), get("10.0.0.1:1", "CF-Connecting-IP: 2001:db8::1")},
		{"viewer", keyfuncs.ClientIP(trust, from("CloudFront-Viewer-Address")), get("10.0.0.1:1", "CloudFront-Viewer-Address: 2001:db8::1:443")},
		{"trusted header", country, get("10.0.0.1:1", "CF-IPCountry: SE")},
		{"trusted header, untrusted proxy", country, get("192.168.0.1:1", "CF-IPCountry: SE")},
		{"trusted header, a client's", country, get("203.0.113.7:1", "CF-IPCountry: SE")},
		{"cookie", keyfuncs.Cookie("session"), get("203.0.113.7:1", "Cookie: theme=dark; session="+long)},
		{"query", keyfuncs.Query("page"), with(query("q=1&page=7"))},
		{"path value", keyfuncs.PathValue("id"), with(pathValue("id", "42"))},
		{"method", keyfuncs.Method, with()},
		{"invented method", keyfuncs.Method, with(method("X"))},
		{"route", keyfuncs.Route, with(route("/users/{id}"))},
		{"host", keyfuncs.Host, with(host("Shop.EXAMPLE.com.:8080"))},
		{"IPv6 host", keyfuncs.Host, with(host("[2001:DB8::1]:8080"))},
		{"no host", keyfuncs.Host, with(host(long))},
		{"prefix", keyfuncs.Prefix("web", keyfuncs.ClientIP()), with()},
		{"header", keyfuncs.Header("x-user"), get("203.0.113.7:1", "X-User: ada")},
		{"user", user, get("203.0.113.7:1", "X-User: ada")},
		{"nobody", user, get("203.0.113.7:1")},
		{"everyone", keyfuncs.Everyone, get("203.0.113.7:1")},
		{"bearer", keyfuncs.APIKey("Authorization"), get("203.0.113.7:1", "Authorization: Bearer "+long)},
		{"API key", keyfuncs.APIKey("X-API-Key"), get("203.0.113.7:1", "X-Api-Key: "+long)},
		{"hash", keyfuncs.Hash(user), get("203.0.113.7:1", "X-User: ada")},
		{"join", keyfuncs.Join(user, keyfuncs.ClientIP(), user), get("203.0.113.7:1", `X-User: a\d|a`)},
		{"first", keyfuncs.First(user, keyfuncs.ClientIP()), get("203.0.113.7:1")},
		{"all together", keyfuncs.Hash(keyfuncs.Join(keyfuncs.First(user, keyfuncs.ClientIP(trust)), keyfuncs.Everyone)), get("10.0.0.1:1", walked)},
	} {
		dst, r := make([]byte, 0, 128), ratelimit.NewRequest(c.view)
		if n := testing.AllocsPerRun(100, func() { _, _ = c.key(dst, r) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func TestCostsDoNotAllocate(t *testing.T) {
	byMethod := keyfuncs.CostByMethod(costs{"GET": 1, "POST": 5}, 2)
	byRoute := keyfuncs.CostByRoute(costs{"/search": 10}, 1)
	bySize := keyfuncs.BodySize(1024, 10)
	for name, cost := range map[string]ratelimit.CostFunc{
		"fixed": keyfuncs.Fixed(3), "method": byMethod, "route": byRoute, "size": bySize, "product": keyfuncs.Product(byMethod, byRoute, bySize),
	} {
		r := ratelimit.NewRequest(with(method("POST"), route("/search"), body(-1)))
		if n := testing.AllocsPerRun(100, func() { _, _ = cost(r) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkClientIP(b *testing.B) {
	trust := keyfuncs.TrustProxies("10.0.0.0/8", "192.0.2.0/24", "fd00::/8")
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		view *view
	}{
		{"IPv4", keyfuncs.ClientIP(), get("203.0.113.7:51514", "X-Forwarded-For: 198.51.100.99")},
		{"IPv6", keyfuncs.ClientIP(), get("[2001:db8:1:2::5]:443")},
		{"private peer without header", keyfuncs.ClientIP(), get("10.0.0.1:1")},
		{"two proxies", keyfuncs.ClientIP(trust), get("10.0.0.1:1", "X-Forwarded-For: 203.0.113.7, 192.0.2.10")},
		{"Forwarded", keyfuncs.ClientIP(trust, keyfuncs.FromHeader("Forwarded")), get("10.0.0.1:1", `Forwarded: for="203.0.113.7:80";proto=https`)},
		{"one header", keyfuncs.ClientIP(trust, keyfuncs.FromHeader("CF-Connecting-IP")), get("10.0.0.1:1", "Cf-Connecting-Ip: 203.0.113.7")},
	} {
		b.Run(c.name, func(b *testing.B) {
			dst, r := make([]byte, 0, 128), ratelimit.NewRequest(c.view)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.key(dst, r)
			}
		})
	}
}
