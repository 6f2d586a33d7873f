package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A store of its own size and clock. Without one a limiter makes its own.
func ExampleNewMemory() {
	var clock limittest.Clock
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{MaxKeys: 100_000, Now: clock.Now})
	limits := ratelimit.Must(ratelimit.Config{
		Store:    store,
		Policies: []ratelimit.Policy{{Name: "mail", Limit: ratelimit.PerHour(1), Key: byUser}},
	})
	for range 3 {
		d, _ := limits.Allow(context.Background(), "ann", 1)
		fmt.Println(clock.Now().Format(time.TimeOnly), d.Allowed(), d.RetryAfter)
		clock.Advance(30 * time.Minute)
	}
	// Output:
	// 00:00:00 true 0s
	// 00:30:00 false 30m0s
	// 01:00:00 true 0s
}

func ExampleMemory_Stats() {
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	limits := ratelimit.Must(ratelimit.Config{
		Store:    store,
		Policies: []ratelimit.Policy{{Name: "mail", Limit: ratelimit.PerHour(1), Key: byUser}},
	})
	for _, user := range []string{"ann", "bob", "ann"} {
		limits.Allow(context.Background(), user, 1)
	}
	stats := store.Stats()
	fmt.Println(stats.Keys, "keys,", stats.Evictions, "evicted")
	// Output: 2 keys, 0 evicted
}

func ExampleNewSpace() {
	space := ratelimit.NewSpace("api", ratelimit.PerMinute(100))
	fmt.Printf("%s %q\n", space.Policy, space.Prefix)
	// Output: api "api:tb:60000000:"
}

func ExampleMemory_Open() {
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	fmt.Println(store.Open(ratelimit.NewSpace("api", ratelimit.PerMinute(100))))
	fmt.Println(store.Open(ratelimit.NewSpace("log", ratelimit.PerDay(1_000_000).Using(ratelimit.SlidingLog))))
	// Output:
	// <nil>
	// ratelimit: Limit.Quota of a sliding log in this store is at most 100000, is 1000000
}

// What a limiter asks its store: all charges of a request at once.
func ExampleMemory_Take() {
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight})
	limit := ratelimit.PerMinute(10)
	space := ratelimit.NewSpace("api", limit)
	if err := store.Open(space); err != nil {
		fmt.Println(err)
		return
	}
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 4}}
	results := make([]ratelimit.Result, 1)
	for range 3 {
		err := store.Take(context.Background(), charges, results)
		fmt.Println(results[0].Allowed, results[0].Remaining, results[0].RetryAfter, err)
	}
	// Output:
	// true 6 0s <nil>
	// true 2 0s <nil>
	// false 2 12s <nil>
}

// A refund, by the receipt of what was charged.
func ExampleMemory_Adjust() {
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight})
	limit := ratelimit.PerMinute(10)
	space := ratelimit.NewSpace("api", limit)
	if err := store.Open(space); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	charge := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 4}}
	result := make([]ratelimit.Result, 1)
	if err := store.Take(ctx, charge, result); err != nil {
		fmt.Println(err)
		return
	}
	err := store.Adjust(ctx, []ratelimit.Adjustment{{
		Op: ratelimit.Refund, Space: space, Key: []byte("ann"), Limit: limit, Units: 3, Receipt: result[0].Receipt,
	}})
	charge[0].Cost = 0 // to look
	fmt.Println(err, store.Take(ctx, charge, result), result[0].Used)
	// Output: <nil> <nil> 1
}

// At most two at once, each until it is given back or for a minute.
func ExampleNewLeaseSpace() {
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight})
	limit := ratelimit.PerMinute(2).Using(ratelimit.SlidingLog)
	space := ratelimit.NewLeaseSpace("uploads", limit)
	if err := store.Open(space); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	charge := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: limit, Cost: 1}}
	result := make([]ratelimit.Result, 1)
	for range 3 {
		err := store.Take(ctx, charge, result)
		fmt.Println(result[0].Allowed, err)
	}
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
}

// The second denial within a minute bans for an hour.
func ExampleNewPenaltySpace() {
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight})
	limit := ratelimit.PerMinute(1)
	login := ratelimit.NewSpace("login", limit)
	bans := ratelimit.NewPenaltySpace("login", ratelimit.Penalty{Denials: 2, Within: time.Minute, Ban: time.Hour})
	for _, space := range []*ratelimit.Space{login, bans} {
		if err := store.Open(space); err != nil {
			fmt.Println(err)
			return
		}
	}
	charges := []ratelimit.Charge{
		{Space: login, Key: []byte("ann"), Limit: limit, Cost: 1},
		{Space: bans, Key: []byte("ann"), Cost: 1, Mode: ratelimit.Strike},
	}
	results := make([]ratelimit.Result, len(charges))
	for range 3 {
		err := store.Take(context.Background(), charges, results)
		fmt.Println(results[0].Allowed, results[1].Allowed, results[1].RetryAfter, err)
	}
	// Output:
	// true true 0s <nil>
	// false true 0s <nil>
	// false false 1h0m0s <nil>
}

func ExampleSpace_Validate() {
	space := ratelimit.NewSpace("api", ratelimit.PerMinute(0))
	fmt.Println(space.Validate())
	// Output: ratelimit: Limit.Quota must be 1 to 2147483648, is 0
}

func ExampleSpace_ValidateLogs() {
	space := ratelimit.NewSpace("api", ratelimit.PerDay(20_000).Using(ratelimit.SlidingLog))
	fmt.Println(space.ValidateLogs(10_000))
	// Output: ratelimit: Limit.Quota of a sliding log in this store is at most 10000, is 20000
}

// A store checks a call before it does anything.
func ExampleCheckTake() {
	space := ratelimit.NewSpace("api", ratelimit.PerMinute(10))
	charges := []ratelimit.Charge{{Space: space, Limit: space.Limits[0], Cost: -1}}
	err := ratelimit.CheckTake(charges, make([]ratelimit.Result, 1))
	fmt.Println(errors.Is(err, ratelimit.ErrMisuse))
	// Output: true
}

func ExampleCheckAdjustment() {
	space := ratelimit.NewSpace("api", ratelimit.PerMinute(10))
	renew := ratelimit.Adjustment{Op: ratelimit.Renew, Space: space, Limit: space.Limits[0]}
	fmt.Println(ratelimit.CheckAdjustment(&renew))
	// Output: ratelimit: misuse of a store: only a lease can be renewed: policy "api"
}

// Without an observer a misconfiguration is logged, and what else a store reports is not.
func ExampleReport_To() {
	report := ratelimit.Report{Kind: ratelimit.ReportStoreError, Err: errors.New("connection refused")}
	report.To(context.Background(), nil)
	// Output:
}
