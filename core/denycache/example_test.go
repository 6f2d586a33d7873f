package denycache_test

import (
	"context"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/limittest"
)

// The store that many instances share is asked once about a key that is denied.
func ExampleNew() {
	var shared limittest.Store // stands for it, and tells what it was asked
	shared.Deny(30 * time.Second)

	store, err := denycache.New(&shared, denycache.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	limits := ratelimit.Must(ratelimit.Config{
		Store: store,
		Policies: []ratelimit.Policy{{
			Name: "api", Limit: ratelimit.PerMinute(100),
			Key: func(dst []byte, r ratelimit.Request) ([]byte, error) { return append(dst, r.Header("X-User")...), nil },
		}},
	})
	for range 1000 {
		limits.Allow(context.Background(), "ann", 1)
	}
	fmt.Println(len(shared.Asked()), "asked of the store,", store.Stats().Hits, "denied without it")
	// Output: 1 asked of the store, 999 denied without it
}

// exampleStore is a cache around a store in memory, on a clock that stands still, and
// the space of a policy of one a minute.
func exampleStore(clock *limittest.Clock) (*denycache.Store, []ratelimit.Charge, error) {
	memory := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
	store, err := denycache.New(memory, denycache.Config{MaxAge: time.Minute, Now: clock.Now})
	if err != nil {
		return nil, nil, err
	}
	limit := ratelimit.PerMinute(1)
	space := ratelimit.NewSpace("api", limit)
	return store, []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 1}}, store.Open(space)
}

// What is told of a denial counts down.
func ExampleStore_Take() {
	var clock limittest.Clock
	store, charges, err := exampleStore(&clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	results := make([]ratelimit.Result, 1)
	for range 4 {
		err := store.Take(context.Background(), charges, results)
		fmt.Println(results[0].Allowed, results[0].RetryAfter, store.Stats().Hits, err)
		clock.Advance(20 * time.Second)
	}
	// Output:
	// true 0s 0 <nil>
	// false 40s 0 <nil>
	// false 20s 1 <nil>
	// true 0s 1 <nil>
}

// A correction through the cache is seen at once.
func ExampleStore_Adjust() {
	var clock limittest.Clock
	store, charges, err := exampleStore(&clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, results := context.Background(), make([]ratelimit.Result, 1)
	for range 3 {
		err := store.Take(ctx, charges, results)
		fmt.Println(results[0].Allowed, err)
	}
	err = store.Adjust(ctx, []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: charges[0].Space, Key: charges[0].Key}})
	fmt.Println(err, store.Take(ctx, charges, results), results[0].Allowed)
	// Output:
	// true <nil>
	// false <nil>
	// false <nil>
	// <nil> <nil> true
}

func ExampleStore_Open() {
	var clock limittest.Clock
	store, _, err := exampleStore(&clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Open(ratelimit.NewSpace("bulk", ratelimit.PerHour(0)))) // what the store says
	// Output: ratelimit: Limit.Quota must be 1 to 2147483648, is 0
}

func ExampleStore_Stats() {
	var clock limittest.Clock
	store, charges, err := exampleStore(&clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	results := make([]ratelimit.Result, 1)
	for range 5 {
		if err := store.Take(context.Background(), charges, results); err != nil {
			fmt.Println(err)
		}
	}
	stats := store.Stats()
	fmt.Println(stats.Keys, "denied key,", stats.Hits, "times without asking the store")
	// Output: 1 denied key, 3 times without asking the store
}
