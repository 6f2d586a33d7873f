package limittest_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// newApp is the app under test: it takes its limits as an argument.
func newApp(limits *ratelimit.Limiter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := limits.Allow(r.Context(), r.RemoteAddr, 1)
		if err != nil || !d.Allowed() {
			http.Error(w, "later", http.StatusTooManyRequests)
			return
		}
		fmt.Fprintln(w, "hello")
	})
}

func visit(app http.Handler) *http.Response {
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Result()
}

func ExampleAllow() {
	app := newApp(limittest.Allow().Limiter())
	fmt.Println(visit(app).Status)
	// Output: 200 OK
}

func ExampleDeny() {
	app := newApp(limittest.Deny(30 * time.Second).Limiter())
	fmt.Println(visit(app).Status)
	// Output: 429 Too Many Requests
}

func ExampleFail() {
	app := newApp(limittest.Fail(errors.New("connection refused")).Limiter())
	fmt.Println(visit(app).Status) // fails open, unless the policy says otherwise
	// Output: 200 OK
}

// One store serves a whole test: it changes its mind when told to.
func ExampleStore() {
	var store limittest.Store
	app := newApp(store.Limiter())

	fmt.Println(visit(app).Status)
	store.Deny(time.Minute)
	fmt.Println(visit(app).Status)
	store.Fail(errors.New("connection refused"))
	fmt.Println(visit(app).Status)
	store.Allow()
	fmt.Println(visit(app).Status)
	// Output:
	// 200 OK
	// 429 Too Many Requests
	// 200 OK
	// 200 OK
}

// Only the login is over its limit.
func ExampleStore_Decide() {
	store := limittest.Allow()
	store.Decide(func(a limittest.Asked) (ratelimit.Result, error) {
		if a.Policy == "login" {
			return ratelimit.Result{RetryAfter: time.Minute, ResetAfter: time.Minute}, nil
		}
		return ratelimit.Result{Allowed: true, Remaining: 7}, nil
	})
	fmt.Println(visit(newApp(store.Limiter(policy("api")))).Status)
	fmt.Println(visit(newApp(store.Limiter(policy("api"), policy("login")))).Status)
	// Output:
	// 200 OK
	// 429 Too Many Requests
}

func ExampleStore_Asked() {
	store := limittest.Allow()
	visit(newApp(store.Limiter(policy("api"))))
	for _, a := range store.Asked() {
		fmt.Println(a.Policy, a.Cost, a.Limit.Quota)
	}
	// Output: api 1 100
}

func ExampleStore_Limiter() {
	limits := limittest.Deny(time.Minute).Limiter(ratelimit.Policy{
		Name: "login", Limit: ratelimit.Per(10, 5*time.Minute), Key: everyone,
	})
	fmt.Println(visit(newApp(limits)).Status)
	// Output: 429 Too Many Requests
}

func ExampleAssertAllowed() {
	_ = func(t *testing.T) {
		app := newApp(limittest.Allow().Limiter())
		limittest.AssertAllowed(t, visit(app))
	}
}

func ExampleAssertDenied() {
	_ = func(t *testing.T) {
		app := newApp(limittest.Deny(30 * time.Second).Limiter())
		limittest.AssertDenied(t, visit(app), 30*time.Second)
	}
}

func ExampleRemaining() {
	_ = func(t *testing.T) {
		app := newApp(limittest.Allow().Limiter())
		if got := limittest.Remaining(t, visit(app)); got != 99 {
			t.Errorf("%d left, want 99", got)
		}
	}
}

func ExampleRetryAfter() {
	_ = func(t *testing.T, clock *limittest.Clock, app http.Handler) {
		clock.Advance(limittest.RetryAfter(t, visit(app)))
		limittest.AssertAllowed(t, visit(app)) // who waits as told is admitted
	}
}

// byTenant is a key function of the app's own.
func byTenant(dst []byte, r ratelimit.Request) ([]byte, error) {
	tenant := r.Header("X-Tenant")
	if tenant == "" {
		return dst, ratelimit.ErrNoKey
	}
	return append(dst, tenant...), nil
}

func ExampleKey() {
	for _, r := range []limittest.Request{
		{Header: http.Header{"X-Tenant": {"acme"}}},
		{Peer: "203.0.113.7:1234"},
	} {
		key, err := limittest.Key(byTenant, r)
		fmt.Printf("%q %v\n", key, err)
	}
	// Output:
	// "acme" <nil>
	// "" ratelimit: the request has no key
}

func ExampleCost() {
	writes := func(r ratelimit.Request) (int64, error) {
		if r.Method() == "GET" {
			return 1, nil
		}
		return 5, nil
	}
	cost, err := limittest.Cost(writes, limittest.Request{Method: "POST"})
	fmt.Println(cost, err)
	// Output: 5 <nil>
}

func ExampleRequest_View() {
	limits := limittest.Deny(time.Minute).Limiter()
	t := limits.Begin(limittest.Request{Method: "GET", Path: "/"}.View())
	defer t.End(0, nil)
	fmt.Println(t.Outcome(), t.Status())
	// Output: denied 429
}
