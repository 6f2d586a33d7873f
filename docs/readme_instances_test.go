package docs_test

import (
	"context"
	"fmt"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// Nobody listens there: the limits fail open.
func Example_instances() {
	if err := instances([]ratelimit.Policy{{Name: "api", Limit: ratelimit.PerMinute(10), Key: keyfuncs.Everyone}}); err != nil {
		fmt.Println(err)
	}
	// Output: true unavailable
}

func instances(policies []ratelimit.Policy) error {
	shared, err := redisstore.Open("redis://127.0.0.1:6379", redisstore.Config{})
	if err != nil {
		return err
	}
	defer shared.Close()
	guarded, err := breaker.New(shared, breaker.Config{}) // an outage costs the requests under way 100 ms
	if err != nil {
		return err
	}
	store, err := denycache.New(guarded, denycache.Config{}) // who is denied is not asked about again too early
	if err != nil {
		return err
	}
	limits, err := ratelimit.New(ratelimit.Config{Store: store, Policies: policies})
	if err != nil {
		return err
	}
	shared.Close() // whatever runs on this machine
	d, err := limits.Allow(context.Background(), "ann", 1)
	if err != nil {
		return err
	}
	fmt.Println(d.Allowed(), d.Outcome)
	return nil
}
