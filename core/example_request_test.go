package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// order is a request as the functions of a policy see it.
func order() ratelimit.Request {
	return ratelimit.NewRequest(limittest.Request{
		Peer: "203.0.113.7:1234", Method: "POST", Host: "shop.example", Path: "/orders/17", Route: "/orders/{id}", RawQuery: "api_key=abc&dry",
		Header:        http.Header{"Cookie": {`theme=dark; session="s3cret"`}, "X-Forwarded-For": {"198.51.100.1", "192.0.2.1"}, "X-Tenant": {"acme"}},
		PathValues:    map[string]string{"id": "17"},
		ContentLength: 2048,
		Values:        map[any]any{"user": "ann"},
		Native:        "the framework's own",
		Context:       context.WithValue(context.Background(), ctxKey{}, "trace-1"),
	}.View())
}

type ctxKey struct{}

func ExampleNewRequest() {
	key, err := byUser(nil, ratelimit.NewRequest(limittest.Request{Values: map[any]any{"user": "ann"}}.View()))
	fmt.Println(string(key), err)
	// Output: ann <nil>
}

func ExampleRequest_Context() {
	fmt.Println(order().Context().Value(ctxKey{}))
	// Output: trace-1
}

func ExampleRequest_Peer() {
	fmt.Println(order().Peer().Addr())
	// Output: 203.0.113.7
}

func ExampleRequest_Method() {
	fmt.Println(order().Method())
	// Output: POST
}

func ExampleRequest_Host() {
	fmt.Println(order().Host())
	// Output: shop.example
}

func ExampleRequest_Path() {
	fmt.Println(order().Path())
	// Output: /orders/17
}

// One bucket a route, not one a path.
func ExampleRequest_Route() {
	fmt.Println(order().Route())
	// Output: /orders/{id}
}

func ExampleRequest_RawQuery() {
	fmt.Println(order().RawQuery())
	// Output: api_key=abc&dry
}

func ExampleRequest_Query() {
	key, ok := order().Query("api_key")
	fmt.Println(key, ok)
	_, ok = order().Query("page")
	fmt.Println(ok)
	// Output:
	// abc true
	// false
}

func ExampleRequest_Header() {
	fmt.Println(order().Header("X-Tenant"))
	// Output: acme
}

func ExampleRequest_HeaderLine() {
	for i := 0; ; i++ {
		line, ok := order().HeaderLine("X-Forwarded-For", i)
		if !ok {
			break
		}
		fmt.Println(line)
	}
	// Output:
	// 198.51.100.1
	// 192.0.2.1
}

func ExampleRequest_Cookie() {
	session, ok := order().Cookie("session")
	fmt.Println(session, ok)
	// Output: s3cret true
}

func ExampleRequest_PathValue() {
	fmt.Println(order().PathValue("id"))
	// Output: 17
}

// A cost function: a unit a kilobyte, and a body of unknown size costs ten.
func ExampleRequest_ContentLength() {
	cost := func(r ratelimit.Request) (int64, error) {
		if n, ok := r.ContentLength(); ok {
			return n / 1024, nil
		}
		return 10, nil
	}
	fmt.Println(cost(order()))
	// Output: 2 <nil>
}

func ExampleRequest_Value() {
	fmt.Println(order().Value("user"))
	// Output: ann
}

func ExampleRequest_Native() {
	fmt.Println(order().Native())
	// Output: the framework's own
}

// A key function that sees that the app's set-up defeats it says so, once.
func ExampleRequest_Misconfigured() {
	byTenant := func(dst []byte, r ratelimit.Request) ([]byte, error) {
		if r.Host() == "localhost" {
			r.Misconfigured("APP1", "The proxy does not pass the host on")
		}
		return append(dst, r.Host()...), nil
	}
	limits := ratelimit.Must(ratelimit.Config{
		Observer: printer{},
		Policies: []ratelimit.Policy{{Name: "tenant", Limit: ratelimit.PerHour(5), Key: byTenant}},
	})
	for range 2 {
		limits.Begin(limittest.Request{Host: "localhost"}.View()).End(200, nil)
	}
	// Output:
	// tenant the proxy does not pass the host on <nil>
	// tenant localhost allowed, 4 left
	// tenant localhost allowed, 3 left
}
