package keyfuncs_test

import (
	"fmt"

	"github.com/weirhq/ratelimit/keyfuncs"
)

func ExampleHeader() {
	key := keyfuncs.Header("X-Device-ID")

	fmt.Println(keyOf(key, get("203.0.113.7:51514", "X-Device-ID: 42")))
	fmt.Println(keyOf(key, get("203.0.113.7:51514")))
	// Output:
	// 42
	// (no key)
}

func ExampleTrustedHeader() {
	key := keyfuncs.TrustedHeader("CF-IPCountry",
		keyfuncs.TrustProxies("173.245.48.0/20", "103.21.244.0/22")) // and the rest of cloudflare.com/ips

	fmt.Println(keyOf(key, get("173.245.48.9:443", "CF-IPCountry: SE")))
	fmt.Println(keyOf(key, get("203.0.113.7:51514", "CF-IPCountry: SE")))
	// Output:
	// SE
	// (no key)
}

func ExampleCookie() {
	key := keyfuncs.Cookie("session")

	fmt.Println(keyOf(key, get("203.0.113.7:51514", "Cookie: theme=dark; session=s3cret")))
	// Output: 1ec1c26b50d5d3c58d9583181af8076655fe00756bf7285940ba3670f99fcba0
}

func ExampleQuery() {
	key := keyfuncs.Query("city")

	fmt.Println(keyOf(key, get("203.0.113.7:51514").with(query("units=metric&city=New%20York"))))
	// Output: New York
}

func ExamplePathValue() {
	key := keyfuncs.PathValue("project")
	v := get("203.0.113.7:51514").with(pathValue("project", "apollo")) // as the router sets it

	fmt.Println(keyOf(key, v))
	// Output: apollo
}

func ExampleRoute() {
	v := get("203.0.113.7:51514").with(route("/users/{id}")) // as the router sets it

	fmt.Println(keyOf(keyfuncs.Route, v))
	// Output: /users/{id}
}

func ExampleMethod() {
	key := keyfuncs.Join(keyfuncs.ClientIP(), keyfuncs.Method)

	fmt.Println(keyOf(key, get("203.0.113.7:51514").with(method("POST"))))
	fmt.Println(keyOf(key, get("203.0.113.7:51514").with(method("INVENTED"))))
	// Output:
	// 203.0.113.7|POST
	// 203.0.113.7|other
}

func ExampleHost() {
	fmt.Println(keyOf(keyfuncs.Host, get("203.0.113.7:51514").with(host("Shop.Example.com:8080"))))
	// Output: shop.example.com
}

func ExampleEveryone() {
	fmt.Println(keyOf(keyfuncs.Everyone, get("203.0.113.7:51514")))
	// Output: everyone
}
