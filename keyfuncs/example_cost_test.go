package keyfuncs_test

import (
	"fmt"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func ExampleFixed() {
	cost := keyfuncs.Fixed(10)

	fmt.Println(cost(ratelimit.NewRequest(get("203.0.113.7:51514"))))
	// Output: 10 <nil>
}

func ExampleBodySize() {
	cost := keyfuncs.BodySize(1<<20, 100) // a unit a MiB
	upload := get("203.0.113.7:51514").with(body(5<<20 + 1))
	chunked := get("203.0.113.7:51514").with(body(-1)) // of unknown size

	fmt.Println(cost(ratelimit.NewRequest(upload)))
	fmt.Println(cost(ratelimit.NewRequest(chunked)))
	// Output:
	// 6 <nil>
	// 100 <nil>
}

func ExampleCostByMethod() {
	cost := keyfuncs.CostByMethod(map[string]int64{"GET": 1, "DELETE": 10}, 5)

	for _, m := range []string{"GET", "HEAD", "DELETE", "POST"} {
		fmt.Println(cost(ratelimit.NewRequest(get("203.0.113.7:51514").with(method(m)))))
	}
	// Output:
	// 1 <nil>
	// 1 <nil>
	// 10 <nil>
	// 5 <nil>
}

func ExampleCostByRoute() {
	cost := keyfuncs.CostByRoute(map[string]int64{"/search": 10, "/health": 0}, 1)

	for _, pattern := range []string{"/search", "/health", "/users/{id}"} {
		fmt.Println(cost(ratelimit.NewRequest(get("203.0.113.7:51514").with(route(pattern)))))
	}
	// Output:
	// 10 <nil>
	// 0 <nil>
	// 1 <nil>
}

func ExampleProduct() {
	cost := keyfuncs.Product(
		keyfuncs.CostByRoute(map[string]int64{"/convert": 5}, 1),
		keyfuncs.BodySize(1<<20, 100), // a unit a MiB
	)
	v := get("203.0.113.7:51514").with(route("/convert"), body(3<<20))

	fmt.Println(cost(ratelimit.NewRequest(v)))
	// Output: 15 <nil>
}
