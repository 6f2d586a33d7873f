package approx_test

import (
	"context"
	"fmt"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/limittest"
)

func byUser(dst []byte, r ratelimit.Request) ([]byte, error) {
	return append(dst, r.Header("X-User")...), nil
}

// Two instances share a limit of 100 a minute, and each decides without asking.
func ExampleNew() {
	var clock limittest.Clock
	shared := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}) // stands for Redis
	ctx := context.Background()
	for _, name := range []string{"first", "second"} {
		store, err := approx.New(shared, approx.Config{Now: clock.Now})
		if err != nil {
			fmt.Println(err)
			return
		}
		limits := ratelimit.Must(ratelimit.Config{
			Store:    store,
			Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerMinute(100), Key: byUser}},
		})
		d, err := limits.Allow(ctx, "ann", 60)
		fmt.Println(name, d.Allowed(), d.Remaining, err)
		if err := store.Close(); err != nil { // at shutdown: shares what was not shared yet
			fmt.Println(err)
		}
		d, err = limits.Allow(ctx, "ann", 60)
		fmt.Println(name, d.Allowed(), d.Remaining, err)
	}
	// Output:
	// first true 40 <nil>
	// first false 40 <nil>
	// second true 40 <nil>
	// second false 0 <nil>
}

// newStore returns a store on a clock that stands still, with a space opened in it.
func newStore(limit ratelimit.Limit) (*approx.Store, *ratelimit.Memory, *ratelimit.Space) {
	var clock limittest.Clock
	shared := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
	store, err := approx.New(shared, approx.Config{Now: clock.Now})
	if err != nil {
		panic(err)
	}
	space := ratelimit.NewSpace("api", limit)
	if err := store.Open(space); err != nil {
		panic(err)
	}
	return store, shared, space
}

func ExampleStore_Open() {
	store, err := approx.New(ratelimit.NewMemory(ratelimit.MemoryConfig{}), approx.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	fmt.Println(store.Open(ratelimit.NewSpace("api", ratelimit.PerMinute(100))))
	fmt.Println(store.Open(ratelimit.NewSpace("log", ratelimit.PerMinute(100).Using(ratelimit.SlidingLog))))
	// Output:
	// <nil>
	// ratelimit: Limit.Algorithm must not be sliding_log: a local copy does not know when the others charged
}

// The copy knows of a charge at once.
func ExampleStore_Take() {
	limit := ratelimit.PerMinute(10)
	store, _, space := newStore(limit)
	defer store.Close()
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 4}}
	results := make([]ratelimit.Result, 1)
	for range 3 {
		err := store.Take(context.Background(), charges, results)
		fmt.Println(results[0].Allowed, results[0].Remaining, err)
	}
	// Output:
	// true 6 <nil>
	// true 2 <nil>
	// false 2 <nil>
}

// The shared store knows of it after an exchange.
func ExampleStore_Flush() {
	limit := ratelimit.PerMinute(10)
	store, shared, space := newStore(limit)
	defer store.Close()
	ctx := context.Background()
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 4}}
	results := make([]ratelimit.Result, 1)
	if err := store.Take(ctx, charges, results); err != nil {
		fmt.Println(err)
	}
	charges[0].Cost = 0 // to look
	fmt.Println(shared.Take(ctx, charges, results), results[0].Used)
	fmt.Println(store.Flush(ctx))
	fmt.Println(shared.Take(ctx, charges, results), results[0].Used)
	// Output:
	// <nil> 0
	// <nil>
	// <nil> 4
}

// A Reset holds in both stores at once.
func ExampleStore_Adjust() {
	limit := ratelimit.PerMinute(10)
	store, shared, space := newStore(limit)
	defer store.Close()
	ctx := context.Background()
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 4}}
	results := make([]ratelimit.Result, 1)
	if err := store.Take(ctx, charges, results); err != nil {
		fmt.Println(err)
	}
	if err := store.Flush(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(store.Adjust(ctx, []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: space, Key: []byte("ann"), Limit: limit}}))
	charges[0].Cost = 0 // to look
	fmt.Println(shared.Take(ctx, charges, results), results[0].Used)
	// Output:
	// <nil>
	// <nil> 0
}

// Close shares what was not shared yet.
func ExampleStore_Close() {
	limit := ratelimit.PerMinute(10)
	store, shared, space := newStore(limit)
	ctx := context.Background()
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 4}}
	results := make([]ratelimit.Result, 1)
	if err := store.Take(ctx, charges, results); err != nil {
		fmt.Println(err)
	}
	fmt.Println(store.Close())
	charges[0].Cost = 0 // to look
	fmt.Println(shared.Take(ctx, charges, results), results[0].Used)
	// Output:
	// <nil>
	// <nil> 4
}

func ExampleStore_Stats() {
	limit := ratelimit.PerMinute(10)
	store, _, space := newStore(limit)
	defer store.Close()
	ctx := context.Background()
	for _, key := range []string{"ann", "bob"} {
		charges := []ratelimit.Charge{{Space: space, Key: []byte(key), Limit: limit, Cost: 1}}
		if err := store.Take(ctx, charges, make([]ratelimit.Result, 1)); err != nil {
			fmt.Println(err)
		}
	}
	if err := store.Flush(ctx); err != nil {
		fmt.Println(err)
	}
	s := store.Stats()
	fmt.Println(s.Tracked, "keys,", s.Exchanges, "exchange,", s.Failures, "failed")
	// Output: 2 keys, 1 exchange, 0 failed
}
