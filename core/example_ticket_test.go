package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// midnight is a clock that stands still at the start of 2026.
func midnight() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// onePerMinute returns a limiter whose only unit is gone.
func onePerMinute(style ratelimit.HeaderStyle, answer ratelimit.AnswerStyle) *ratelimit.Limiter {
	limits := ratelimit.Must(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight}),
		Headers:  style,
		Answer:   answer,
		Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerMinute(1), Key: byUser}},
	})
	view := limittest.Request{Values: map[any]any{"user": "ann"}}.View()
	limits.Begin(view).End(200, nil)
	return limits
}

// ann is a request of ann's.
func ann() ratelimit.View {
	return limittest.Request{Method: "GET", Values: map[any]any{"user": "ann"}}.View()
}

func ExampleTicket_HeaderAt() {
	ticket := onePerMinute(ratelimit.HeaderStyle{}, ratelimit.AnswerJSON).Begin(ann())
	defer ticket.End(ticket.Status(), nil)
	for i := 0; ; i++ {
		name, value, ok := ticket.HeaderAt(i)
		if !ok {
			break
		}
		fmt.Printf("%s: %s\n", name, value)
	}
	// Output:
	// X-Ratelimit-Limit: 1
	// X-Ratelimit-Remaining: 0
	// X-Ratelimit-Reset: 1767225660
	// Retry-After: 60
	// Cache-Control: no-store
}

// The header fields of the IETF's draft, instead of the de-facto ones.
func ExampleHeaderStyle() {
	style := ratelimit.HeaderStyle{Draft: ratelimit.Draft11, OmitX: true}
	ticket := onePerMinute(style, ratelimit.AnswerJSON).Begin(ann())
	defer ticket.End(ticket.Status(), nil)
	for i := 0; ; i++ {
		name, value, ok := ticket.HeaderAt(i)
		if !ok {
			break
		}
		fmt.Printf("%s: %s\n", name, value)
	}
	// Output:
	// Ratelimit-Policy: "api";q=1;w=60
	// Ratelimit: "api";r=0;t=60
	// Retry-After: 60
	// Cache-Control: no-store
}

func ExampleHeaderStyle_HeaderNames() {
	h := make(http.Header)
	for _, name := range (ratelimit.HeaderStyle{}).HeaderNames() {
		h.Add("Access-Control-Expose-Headers", name)
	}
	fmt.Println(h.Values("Access-Control-Expose-Headers"))
	// Output: [X-Ratelimit-Limit X-Ratelimit-Remaining X-Ratelimit-Reset Retry-After]
}

// A limiter inside another one: the stricter of the two is told.
func ExampleTicket_Merge() {
	h := http.Header{"X-Ratelimit-Limit": {"1000"}, "X-Ratelimit-Remaining": {"999"}}
	ticket := onePerMinute(ratelimit.HeaderStyle{}, ratelimit.AnswerJSON).Begin(ann())
	defer ticket.End(ticket.Status(), nil)
	ticket.Merge(h.Get)
	for i := 0; ; i++ {
		name, value, ok := ticket.HeaderAt(i)
		if !ok {
			break
		}
		h.Set(name, string(value))
	}
	fmt.Println(h.Get("X-RateLimit-Remaining"), "of", h.Get("X-RateLimit-Limit"))
	// Output: 0 of 1
}

func ExampleTicket_Body() {
	for _, answer := range []ratelimit.AnswerStyle{ratelimit.AnswerJSON, ratelimit.AnswerProblem, ratelimit.AnswerText} {
		ticket := onePerMinute(ratelimit.HeaderStyle{}, answer).Begin(ann())
		contentType, body := ticket.Body()
		fmt.Printf("%s\n%s\n", contentType, body)
		ticket.End(ticket.Status(), nil)
	}
	// Output:
	// application/json
	// {"error":"rate_limit_exceeded","retry_after":60}
	// application/problem+json
	// {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Rate limit exceeded","status":429,"retry_after":60,"violated-policies":["api"]}
	// text/plain; charset=utf-8
	// rate limit exceeded, retry in 60 s
}

func ExampleTicket_Status() {
	ticket := onePerMinute(ratelimit.HeaderStyle{}, ratelimit.AnswerJSON).Begin(ann())
	defer ticket.End(ticket.Status(), nil)
	if status := ticket.Status(); status != 0 {
		fmt.Println("answer", status)
	}
	// Output: answer 429
}

func ExampleTicket_Outcome() {
	ticket := onePerMinute(ratelimit.HeaderStyle{}, ratelimit.AnswerJSON).Begin(ann())
	defer ticket.End(ticket.Status(), nil)
	fmt.Println(ticket.Outcome())
	// Output: denied
}

func ExampleTicket_Decision() {
	ticket := onePerMinute(ratelimit.HeaderStyle{}, ratelimit.AnswerJSON).Begin(ann())
	defer ticket.End(ticket.Status(), nil)
	d := ticket.Decision()
	fmt.Println(d.Policy, d.Limit, d.Used, d.RetryAfter)
	// Output: api 1/m 1 1m0s
}

func ExampleTicket_Decisions() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "burst", Limit: ratelimit.PerSecond(5), Key: byUser},
		{Name: "daily", Limit: ratelimit.PerDay(1000), Key: byUser},
	}})
	ticket := limits.Begin(ann())
	defer ticket.End(200, nil)
	for d := range ticket.Decisions() {
		fmt.Println(d.Policy, d.Remaining)
	}
	// Output:
	// burst 4
	// daily 999
}

// A queue of three, one a second.
func ExampleTicket_Delay() {
	limits := ratelimit.Must(ratelimit.Config{
		Store: ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight}),
		Policies: []ratelimit.Policy{
			{Name: "queue", Limit: ratelimit.PerSecond(1).WithBurst(3).Using(ratelimit.LeakyBucket), Key: byUser},
		},
	})
	for range 3 {
		ticket := limits.Begin(ann())
		fmt.Println(ticket.Delay())
		ticket.End(200, nil)
	}
	// Output:
	// 0s
	// 1s
	// 2s
}

// A client that hangs up while it waits gives its place back.
func ExampleTicket_Wait() {
	limits := ratelimit.Must(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: midnight}),
		Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerHour(1), Key: byUser, Over: ratelimit.Delay(time.Hour)}},
	})
	limits.Begin(ann()).End(200, nil)

	hungUp, cancel := context.WithCancel(context.Background())
	cancel()
	ticket := limits.Begin(ann())
	err := ticket.Wait(hungUp)
	ticket.End(0, err)
	d, _ := limits.Peek(context.Background(), "ann")
	fmt.Println(err, d.Used)
	// Output: context canceled 1
}

func ExampleTicket_End() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerHour(5), Key: byUser},
	}})
	handle := func() (status int, err error) {
		ticket := limits.Begin(ann())
		defer func() { ticket.End(status, err) }()
		return http.StatusOK, nil
	}
	fmt.Println(handle())
	// Output: 200 <nil>
}

// ending is an observer that is told how requests end.
type ending struct{ printer }

func (ending) Ended(_ context.Context, e ratelimit.Ended) { fmt.Println(e.Outcome, e.Status) }

// An adapter whose framework does not know the status finds it out only if asked.
func ExampleTicket_WantsStatus() {
	policy := ratelimit.Policy{Name: "api", Limit: ratelimit.PerMinute(100), Key: byKey}
	asked := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{policy}, Observer: ending{}})
	plain := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{policy}})

	for _, limits := range []*ratelimit.Limiter{asked, plain} {
		t := limits.Begin(get("ann"))
		fmt.Println("wants the status:", t.WantsStatus())
		t.End(204, nil)
	}
	// Output:
	// api ann allowed, 99 left
	// wants the status: true
	// allowed 204
	// wants the status: false
}
