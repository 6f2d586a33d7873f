package keyfuncs_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func ExampleClientIP() {
	key := keyfuncs.ClientIP()

	fmt.Println(keyOf(key, get("203.0.113.7:51514", "X-Forwarded-For: 198.51.100.99")))
	fmt.Println(keyOf(key, get("[2001:db8:1:2:3:4:5:6]:443")))
	// Output:
	// 203.0.113.7
	// 2001:db8:1:2::/64
}

func ExampleClientIP_incorrect() {
	defer func() { fmt.Println(recover()) }()

	keyfuncs.ClientIP(keyfuncs.FromHeader("X-Real-IP"), keyfuncs.IPv6Prefix(640))
	// Output:
	// ratelimit: keyfuncs.IPv6Prefix must be 1 to 128, is 640
	// ratelimit: keyfuncs.FromHeader is read from trusted peers only: give TrustProxies too
}

func ExampleTrustProxies() {
	key := keyfuncs.ClientIP(keyfuncs.TrustProxies("10.0.0.0/8", "2001:db8::1"))

	fmt.Println(keyOf(key, get("10.0.1.20:34567", "X-Forwarded-For: 198.51.100.99, 203.0.113.7, 10.0.0.9")))
	fmt.Println(keyOf(key, get("192.0.2.1:34567", "X-Forwarded-For: 203.0.113.7")))
	// Output:
	// 203.0.113.7
	// 192.0.2.1
}

func ExampleTrustPrefixes() {
	var trusted []netip.Prefix
	for _, text := range []string{"10.0.0.0/8", "fd00::/8"} { // as read from a file
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		trusted = append(trusted, prefix)
	}
	key := keyfuncs.ClientIP(keyfuncs.TrustPrefixes(trusted...))

	fmt.Println(keyOf(key, get("10.0.1.20:34567", "X-Forwarded-For: 203.0.113.7")))
	// Output: 203.0.113.7
}

func ExampleTrustUnixSocket() {
	key := keyfuncs.ClientIP(keyfuncs.TrustUnixSocket())

	fmt.Println(keyOf(key, get("@", "X-Forwarded-For: 203.0.113.7")))
	// Output: 203.0.113.7
}

func ExampleUnsafeTrustHops() {
	key := keyfuncs.ClientIP(keyfuncs.UnsafeTrustHops(2))

	fmt.Println(keyOf(key, get("192.0.2.1:443", "X-Forwarded-For: 198.51.100.99, 203.0.113.7, 192.0.2.44")))
	// Output: 203.0.113.7
}

func ExampleFromHeader() {
	key := keyfuncs.ClientIP(
		keyfuncs.TrustProxies("173.245.48.0/20", "103.21.244.0/22"), // and the rest of cloudflare.com/ips
		keyfuncs.FromHeader("CF-Connecting-IP"),
	)

	fmt.Println(keyOf(key, get("173.245.48.9:443", "CF-Connecting-IP: 203.0.113.7")))
	// Output: 203.0.113.7
}

func ExampleIPv6Prefix() {
	key := keyfuncs.ClientIP(keyfuncs.IPv6Prefix(56))

	fmt.Println(keyOf(key, get("[2001:db8:1:234::5]:443")))
	// Output: 2001:db8:1:200::/56
}

func ExampleIPv4Prefix() {
	key := keyfuncs.ClientIP(keyfuncs.IPv4Prefix(24))

	fmt.Println(keyOf(key, get("203.0.113.7:51514")))
	// Output: 203.0.113.0/24
}

func ExampleFunc() {
	key := keyfuncs.Func(func(r ratelimit.Request) string {
		app, _, _ := strings.Cut(r.Header("User-Agent"), "/")
		return app
	})

	fmt.Println(keyOf(key, get("203.0.113.7:51514", "User-Agent: sync/2.1")))
	// Output: sync
}

type userKey struct{}

// currentUser returns the name that an authentication middleware stored.
func currentUser(r ratelimit.Request) string {
	name, _ := r.Value(userKey{}).(string)
	return name
}

// loggedIn returns the request with that name.
func loggedIn(v *view, name string) *view {
	ctx := context.WithValue(v.request.Context(), userKey{}, name)
	return &view{request: v.request.WithContext(ctx), peer: v.peer}
}

func ExampleUser() {
	key := keyfuncs.User(currentUser)

	fmt.Println(keyOf(key, loggedIn(get("203.0.113.7:51514"), "ada")))
	fmt.Println(keyOf(key, get("203.0.113.7:51514")))
	// Output:
	// ada
	// (no key)
}

func ExampleTenant() {
	key := keyfuncs.Tenant(func(r ratelimit.Request) string { return r.Header("X-Tenant") })

	fmt.Println(keyOf(key, get("203.0.113.7:51514", "X-Tenant: acme")))
	// Output: acme
}

func ExampleAPIKey() {
	key := keyfuncs.APIKey("Authorization")

	fmt.Println(keyOf(key, get("203.0.113.7:51514", "Authorization: Bearer s3cret")))
	// Output: 1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0
}

func ExampleHash() {
	key := keyfuncs.Hash(keyfuncs.Query("token"))

	fmt.Println(keyOf(key, get("203.0.113.7:51514").with(query("token=s3cret"))))
	// Output: 1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0
}

func ExamplePrefix() {
	web := keyfuncs.Prefix("web", keyfuncs.User(currentUser))
	jobs := keyfuncs.Prefix("jobs", keyfuncs.User(currentUser))

	fmt.Println(keyOf(web, loggedIn(get("203.0.113.7:51514"), "ada")))
	fmt.Println(keyOf(jobs, loggedIn(get("203.0.113.7:51514"), "ada")))
	// Output:
	// web:ada
	// jobs:ada
}

func ExampleJoin() {
	key := keyfuncs.Join(keyfuncs.User(currentUser), keyfuncs.Header("X-Device-ID"))

	fmt.Println(keyOf(key, loggedIn(get("203.0.113.7:51514", "X-Device-ID: 42"), "ada")))
	fmt.Println(keyOf(key, loggedIn(get("203.0.113.7:51514", "X-Device-ID: 4|2"), "ada")))
	fmt.Println(keyOf(key, get("203.0.113.7:51514", "X-Device-ID: 42")))
	// Output:
	// ada|42
	// ada|4\|2
	// (no key)
}

func ExampleFirst() {
	key := keyfuncs.First(keyfuncs.User(currentUser), keyfuncs.ClientIP())

	fmt.Println(keyOf(key, loggedIn(get("203.0.113.7:51514"), "ada")))
	fmt.Println(keyOf(key, get("203.0.113.7:51514")))
	// Output:
	// 0:ada
	// 1:203.0.113.7
}
