package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// byUser counts by what the app's authentication stored; package keyfuncs has the
// usual key functions.
func byUser(dst []byte, r ratelimit.Request) ([]byte, error) {
	user, ok := r.Value("user").(string)
	if !ok {
		return dst, ratelimit.ErrNoKey
	}
	return append(dst, user...), nil
}

func ExampleNew() {
	limits, err := ratelimit.New(ratelimit.Config{
		Policies: []ratelimit.Policy{
			{Name: "burst", Limit: ratelimit.PerSecond(5), Key: byUser},
			{Name: "daily", Limit: ratelimit.PerDay(10_000).Using(ratelimit.FixedWindow), Key: byUser},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(limits.Describe())
	// Output:
	// burst: 5 per s (token_bucket), above it denied
	// daily: 10000 per d (fixed_window), above it denied
}

func ExampleMust() {
	defer func() { fmt.Println(recover()) }()
	ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "API", Limit: ratelimit.PerMinute(100), Key: byUser},
	}})
	// Output: ratelimit: Policies[0] "API": Name must match [a-z0-9][a-z0-9._-]{0,63}
}

// A stricter limit for one route; both count in the same store.
func ExampleLimiter_With() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerMinute(100), Key: byUser},
	}})
	login := limits.With(ratelimit.Policy{Name: "login", Limit: ratelimit.PerHour(1), Key: byUser})
	for range 2 {
		d, _ := login.Allow(context.Background(), "ann", 1)
		fmt.Println(d.Policy, d.Allowed())
	}
	// Output:
	// login true
	// login false
}

func ExampleLimiter_Allow() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "mail", Limit: ratelimit.PerHour(2), Key: byUser},
	}})
	for range 3 {
		d, err := limits.Allow(context.Background(), "ann", 1)
		fmt.Println(d.Allowed(), d.Remaining, err)
	}
	// Output:
	// true 1 <nil>
	// true 0 <nil>
	// false 0 <nil>
}

// Wait slows a job down to its limit.
func ExampleLimiter_Wait() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "partner-api", Limit: ratelimit.PerSecond(100), Key: byUser},
	}})
	fmt.Println(limits.Wait(context.Background(), "ann", 20))

	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(limits.Wait(soon, "ann", 100))
	fmt.Println(limits.Wait(soon, "ann", 101))
	// Output:
	// <nil>
	// ratelimit: the wait would exceed the context's deadline
	// ratelimit: the cost can never be admitted
}

func ExampleLimiter_Peek() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerHour(10), Key: byUser},
	}})
	ctx := context.Background()
	limits.Allow(ctx, "ann", 3)
	d, _ := limits.Peek(ctx, "ann")
	fmt.Println(d.Used, "used,", d.Remaining, "left")
	// Output: 3 used, 7 left
}

// After a successful login the failed ones before it are forgiven.
func ExampleLimiter_Reset() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "login", Limit: ratelimit.PerHour(5), Key: byUser},
	}})
	ctx := context.Background()
	limits.Allow(ctx, "ann", 4)
	err := limits.Reset(ctx, "ann")
	d, _ := limits.Peek(ctx, "ann")
	fmt.Println(d.Remaining, err)
	// Output: 5 <nil>
}

// A job that costs something under two limits, each with its own key.
func ExampleLimiter_Acquire() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "tenant", Limit: ratelimit.PerHour(100), Key: byUser},
		{Name: "gpu", Limit: ratelimit.PerMinute(10), Key: byUser},
	}})
	for range 2 {
		ticket, err := limits.Acquire(context.Background(),
			ratelimit.Ask{Policy: "tenant", Key: "acme"},
			ratelimit.Ask{Policy: "gpu", Key: "rack-7", Cost: 6},
		)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ticket.Outcome(), ticket.Decision().Policy)
		ticket.End(0, nil)
	}
	// Output:
	// allowed gpu
	// denied gpu
}

// What an adapter does with each request.
func ExampleLimiter_Begin() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerHour(1), Key: byUser},
	}})
	view := limittest.Request{Method: "GET", Values: map[any]any{"user": "ann"}}.View()
	for range 2 {
		ticket := limits.Begin(view)
		fmt.Println(ticket.Outcome(), ticket.Status())
		ticket.End(200, nil)
	}
	// Output:
	// allowed 0
	// denied 429
}

// A handler that looks at a name in the body, and answers as the middleware would.
func ExampleRefuse() {
	limits := limittest.Deny(time.Minute).Limiter()
	view := limittest.Request{Method: "POST"}.View()
	if d, _ := limits.Allow(context.Background(), "ann@example.com", 1); !d.Allowed() {
		ticket := ratelimit.Refuse(view, d)
		defer ticket.End(ticket.Status(), nil)
		_, body := ticket.Body()
		fmt.Println(ticket.Status(), string(body))
	}
	// Output: 429 {"error":"rate_limit_exceeded","retry_after":60}
}

func ExampleLimiter_Describe() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "login", Limit: ratelimit.Per(10, 5*time.Minute), Key: byUser, NoKey: ratelimit.NoKeyDeny},
		{Name: "trial", Limit: ratelimit.PerSecond(100), Key: byUser, Over: ratelimit.Shadow()},
	}})
	fmt.Print(limits.Describe())
	// Output:
	// login: 10 per 5m (token_bucket), above it denied; without a key denied
	// trial: 100 per s (token_bucket), above it only reported (shadow)
}

// printer is an observer that prints.
type printer struct{}

func (printer) Decided(_ context.Context, key []byte, d ratelimit.Decision) {
	fmt.Printf("%s %s %v, %d left\n", d.Policy, key, d.Outcome, d.Remaining)
}

func (printer) Reported(_ context.Context, r ratelimit.Report) {
	fmt.Println(r.Policy, strings.ToLower(r.Detail), r.Err)
}

func ExampleObserver() {
	limits := ratelimit.Must(ratelimit.Config{
		Observer: printer{},
		Policies: []ratelimit.Policy{{Name: "mail", Limit: ratelimit.PerHour(1), Key: byUser}},
	})
	for range 2 {
		limits.Allow(context.Background(), "ann", 1)
	}
	// Output:
	// mail ann allowed, 0 left
	// mail ann denied, 0 left
}

func ExampleCode_URL() {
	fmt.Println(ratelimit.CodeUntrustedProxy.URL())
	// Output: https://github.com/weirhq/ratelimit/blob/main/docs/codes.md#RL001
}

// While the store is down, each of four instances holds a quarter of the limit by
// itself.
func ExampleConfig_fallback() {
	limits := ratelimit.Must(ratelimit.Config{
		Store:     limittest.Fail(errors.New("connection refused")),
		OnFailure: ratelimit.FailLocal,
		Fallback:  ratelimit.NewMemory(ratelimit.MemoryConfig{}),
		Share:     0.25,
		Policies:  []ratelimit.Policy{{Name: "mail", Limit: ratelimit.PerHour(8), Key: byUser}},
	})
	fmt.Print(limits.Describe())
	for range 3 {
		d, _ := limits.Allow(context.Background(), "ann", 1)
		fmt.Println(d.Allowed(), d.Remaining, d.Local)
	}
	// Output:
	// mail: 8 per h (token_bucket), above it denied; 2 per h (token_bucket) while the store is down
	// true 1 true
	// true 0 true
	// false 0 true
}
