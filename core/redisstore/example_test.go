package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/redis/go-redis/v9"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// All instances of an app share one limit.
func Example() {
	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	limits := ratelimit.Must(ratelimit.Config{
		Store: store,
		Policies: []ratelimit.Policy{
			{Name: "api", Limit: ratelimit.PerMinute(100), Key: keyfuncs.ClientIP()},
		},
	})
	_ = httplimit.Middleware(limits)(http.NotFoundHandler())
}

// The scheme says whether there is one server, a cluster, or Sentinel.
func ExampleOpen() {
	for _, url := range []string{
		"redis://localhost:6379/0",
		"redis+cluster://localhost:7000?addr=localhost:7001",
		"redis+sentinel://localhost:26379?master_name=main",
	} {
		store, err := redisstore.Open(url, redisstore.Config{})
		fmt.Println(err)
		store.Close()
	}
	_, err := redisstore.Open("localhost:6379", redisstore.Config{})
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// ratelimit: url is not usable: the scheme is missing
}

// A client that the app has anyhow. It is to honour the deadlines of contexts.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
	defer client.Close()
	store, err := redisstore.New(client, redisstore.Config{Prefix: "limits:"})
	if err != nil {
		panic(err)
	}
	defer store.Close() // before the client
}

// Waits for what is under way, and closes the client if the store made it.
func ExampleStore_Close() {
	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
	if err != nil {
		panic(err)
	}
	fmt.Println(store.Close())

	space := ratelimit.NewSpace("api", ratelimit.PerMinute(100))
	_ = store.Open(space)
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: space.Limits[0], Cost: 1}}
	err = store.Take(context.Background(), charges, make([]ratelimit.Result, 1))
	fmt.Println(errors.Is(err, redis.ErrClosed))
	// Output:
	// <nil>
	// true
}

// How many decisions share a round trip?
func ExampleStore_Stats() {
	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	stats := store.Stats()
	fmt.Println(stats.Decisions, "decisions,", stats.RoundTrips, "round trips")
	// Output: 0 decisions, 0 round trips
}

// What a store can hold it says at Open, without asking the server.
func ExampleStore_Open() {
	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	log := ratelimit.PerDay(20_000).Using(ratelimit.SlidingLog)
	fmt.Println(store.Open(ratelimit.NewSpace("api", log)))
	// Output: ratelimit: Limit.Quota of a sliding log in this store is at most 10000, is 20000
}

// A Take is made by all charges or by none.
func ExampleStore_Take() {
	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	minute := ratelimit.NewSpace("minute", ratelimit.PerMinute(10))
	day := ratelimit.NewSpace("day", ratelimit.PerDay(1000))
	if err := errors.Join(store.Open(minute), store.Open(day)); err != nil {
		panic(err)
	}
	charges := []ratelimit.Charge{
		{Space: minute, Key: []byte("ann"), Limit: minute.Limits[0], Cost: 1},
		{Space: day, Key: []byte("ann"), Limit: day.Limits[0], Cost: 1},
	}
	results := make([]ratelimit.Result, len(charges))
	if err := store.Take(context.Background(), charges, results); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Allowed && results[1].Allowed)
}

// A correction gives back what a charge took too much.
func ExampleStore_Adjust() {
	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	space := ratelimit.NewSpace("tokens", ratelimit.PerMinute(1000))
	if err := store.Open(space); err != nil {
		panic(err)
	}
	charges := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: space.Limits[0], Cost: 500}}
	results := make([]ratelimit.Result, 1)
	if err := store.Take(context.Background(), charges, results); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Adjust(context.Background(), []ratelimit.Adjustment{{
		Op: ratelimit.Refund, Space: space, Key: []byte("ann"), Limit: space.Limits[0], Units: 200, Receipt: results[0].Receipt,
	}}))
}
