package ratelimit_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// three asks three times at one instant for one unit.
func three(p ratelimit.Policy) {
	var clock limittest.Clock
	limits := ratelimit.Must(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}),
		Policies: []ratelimit.Policy{p},
	})
	for range 3 {
		d, _ := limits.Allow(context.Background(), "ann", 1)
		fmt.Println(d.Outcome, "fits:", d.Fits, "used:", d.Used, "delay:", d.Delay)
	}
}

func ExampleReject() {
	three(ratelimit.Policy{Name: "api", Limit: ratelimit.PerSecond(1), Key: byUser, Over: ratelimit.Reject()})
	// Output:
	// allowed fits: true used: 1 delay: 0s
	// denied fits: false used: 1 delay: 0s
	// denied fits: false used: 1 delay: 0s
}

func ExampleDelay() {
	three(ratelimit.Policy{Name: "api", Limit: ratelimit.PerSecond(1), Key: byUser, Over: ratelimit.Delay(time.Second)})
	// Output:
	// allowed fits: true used: 1 delay: 0s
	// allowed fits: true used: 2 delay: 1s
	// denied fits: false used: 2 delay: 0s
}

func ExampleShadow() {
	three(ratelimit.Policy{Name: "trial", Limit: ratelimit.PerSecond(1), Key: byUser, Over: ratelimit.Shadow()})
	// Output:
	// allowed fits: true used: 1 delay: 0s
	// allowed fits: false used: 1 delay: 0s
	// allowed fits: false used: 1 delay: 0s
}

func ExampleMeter() {
	three(ratelimit.Policy{Name: "billed", Limit: ratelimit.PerSecond(1), Key: byUser, Over: ratelimit.Meter()})
	// Output:
	// allowed fits: true used: 1 delay: 0s
	// allowed fits: false used: 2 delay: 0s
	// allowed fits: false used: 3 delay: 0s
}

// Writes cost ten times what reads do, and health checks nothing.
func ExamplePolicy() {
	api := ratelimit.Policy{
		Name:  "api",
		Limit: ratelimit.PerMinute(1000),
		Key:   byUser,
		Cost: func(r ratelimit.Request) (int64, error) {
			if r.Method() == "GET" {
				return 1, nil
			}
			return 10, nil
		},
		If: func(r ratelimit.Request) bool { return !strings.HasPrefix(r.Path(), "/health") },
	}
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{api}})
	for _, line := range []string{"GET /users", "POST /users", "GET /health"} {
		method, path, _ := strings.Cut(line, " ")
		ticket := limits.Begin(limittest.Request{Method: method, Path: path}.View())
		fmt.Println(line, ticket.Outcome(), ticket.Decision().Cost)
		ticket.End(200, nil)
	}
	// Output:
	// GET /users allowed 1
	// POST /users allowed 10
	// GET /health skipped 0
}

// A limit that follows the time of day, or anything else. Most bounds it.
func ExamplePolicy_vary() {
	night := true
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{{
		Name: "export", Limit: ratelimit.PerHour(10), Most: ratelimit.PerHour(100), Key: byUser,
		Vary: func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit {
			if night {
				l.Quota *= 5
			}
			return l
		},
	}}})
	for range 2 {
		ticket := limits.Begin(limittest.Request{}.View())
		fmt.Println(ticket.Decision().Limit)
		ticket.End(200, nil)
		night = false
	}
	// Output:
	// 50/h
	// 10/h
}

func ExampleDecision_Allowed() {
	limits := limittest.Deny(30 * time.Second).Limiter()
	d, _ := limits.Allow(context.Background(), "ann", 1)
	if !d.Allowed() {
		fmt.Println("again in", d.RetryAfter)
	}
	// Output: again in 30s
}

// A shadow's decision never was the reason of a denial.
func ExampleDecision_Enforced() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerHour(5), Key: byUser},
		{Name: "trial", Limit: ratelimit.PerHour(1), Key: byUser, Over: ratelimit.Shadow()},
	}})
	ticket := limits.Begin(limittest.Request{}.View())
	defer ticket.End(200, nil)
	for d := range ticket.Decisions() {
		fmt.Println(d.Policy, d.Enforced())
	}
	// Output:
	// api true
	// trial false
}

func ExampleDecision_At() {
	var clock limittest.Clock
	limits := ratelimit.Must(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}),
		Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerHour(1), Key: byUser}},
	})
	d, _ := limits.Allow(context.Background(), "ann", 1)
	fmt.Println("full again at", d.At().Add(d.ResetAfter).UTC().Format(time.DateTime))
	// Output: full again at 2026-01-01 01:00:00
}

func ExampleOutcome_String() {
	for o := ratelimit.Skipped; o <= ratelimit.Errored; o++ {
		fmt.Print(o, " ")
	}
	// Output: skipped allowed denied unavailable errored
}
