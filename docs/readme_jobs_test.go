package docs_test

import (
	"context"
	"fmt"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func Example_jobs() {
	ctx := context.Background()
	if err := jobs(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: 7 of 10 left
}

func jobs(ctx context.Context) error {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "mail", Limit: ratelimit.PerHour(10), Key: keyfuncs.Everyone},
	}})

	d, err := limits.Allow(ctx, "customer-42", 1) // d.Allowed() tells, and d.Delay how long to wait first
	if err != nil {
		return err
	}
	if !d.Allowed() {
		return fmt.Errorf("try again in %v", d.RetryAfter)
	}

	if err := limits.Wait(ctx, "customer-42", 1); err != nil { // until it fits, or ctx ends
		return err
	}

	t, err := limits.Acquire(ctx, ratelimit.Ask{Policy: "mail", Key: "customer-42"}) // single policies, keys and costs
	if err != nil {
		return err
	}
	defer t.End(0, nil)
	if t.Outcome() == ratelimit.Allowed {
		d := t.Decision()
		fmt.Printf("%d of %d left\n", d.Remaining, d.Limit.Capacity())
	}
	return nil
}
