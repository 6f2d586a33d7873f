package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A breaker around a store that is down, which is to open after three failures. The
// policy fails open, so every request is served.
func ExampleNew() {
	down := limittest.Fail(errors.New("connection refused"))
	store, err := breaker.New(down, breaker.Config{Failures: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	limits := ratelimit.Must(ratelimit.Config{
		Store:    store,
		Observer: printer{},
		Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerMinute(100), Key: byUser}},
	})
	for range 4 {
		d, _ := limits.Allow(context.Background(), "ann", 1)
		fmt.Println(d.Allowed())
	}
	// Output:
	// connection refused
	// true
	// connection refused
	// true
	// connection refused
	// true
	// ratelimit: the store's circuit breaker is open
	// true
}

// An operator wants to know when the breaker opens, and why.
func ExampleConfig() {
	down := limittest.Fail(errors.New("connection refused"))
	store, err := breaker.New(down, breaker.Config{
		Timeout: 50 * time.Millisecond, OpenFor: time.Second, Failures: 2,
		Observer: printer{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := ratelimit.PerMinute(100)
	charges := []ratelimit.Charge{{Space: ratelimit.NewSpace("api", limit), Key: []byte("ann"), Limit: limit, Cost: 1}}
	for range 3 {
		err := store.Take(context.Background(), charges, make([]ratelimit.Result, 1))
		fmt.Println(store.State(), err)
	}
	// Output:
	// closed connection refused
	// closed to open: connection refused
	// open connection refused
	// open ratelimit: the store's circuit breaker is open
}

// hung is a store that answers nobody.
type hung struct{ ratelimit.Store }

func (hung) Take(ctx context.Context, _ []ratelimit.Charge, _ []ratelimit.Result) error {
	<-ctx.Done()
	return ctx.Err()
}

// One caller waits for a store that hangs, those after it do not.
func ExampleStore_State() {
	store, err := breaker.New(hung{}, breaker.Config{Timeout: time.Millisecond, OpenFor: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.State())
	err = store.Take(context.Background(), nil, nil)
	fmt.Println(store.State(), errors.Is(err, breaker.ErrTimeout))
	err = store.Take(context.Background(), nil, nil)
	fmt.Println(store.State(), errors.Is(err, breaker.ErrOpen))
	// Output:
	// closed
	// open true
	// open true
}

func ExampleStore_Stats() {
	store, err := breaker.New(hung{}, breaker.Config{Timeout: time.Millisecond, OpenFor: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		store.Take(context.Background(), nil, nil)
	}
	stats := store.Stats()
	fmt.Println("opened", stats.Opened, "time,", stats.Refused, "calls refused")
	// Output: opened 1 time, 4 calls refused
}

func ExampleState_String() {
	fmt.Println(breaker.Closed, breaker.HalfOpen, breaker.Open)
	// Output: closed half-open open
}

// byUser counts by the header X-User.
func byUser(dst []byte, r ratelimit.Request) ([]byte, error) {
	return append(dst, r.Header("X-User")...), nil
}

// printer prints what is reported.
type printer struct{}

func (printer) Decided(context.Context, []byte, ratelimit.Decision) {}

func (printer) Reported(_ context.Context, r ratelimit.Report) {
	if r.Detail != "" {
		fmt.Print(r.Detail, ": ")
	}
	fmt.Println(r.Err)
}
