// The race detector makes pools forget at random.

//go:build !race

package ratelimit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A decision in memory allocates nothing, with its headers or without.
func TestAllocations(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		for n := 1; n <= 3; n += 2 {
			for _, denied := range []bool{false, true} {
				testAllocations(t, a, n, denied)
			}
		}
	}
}

func testAllocations(t *testing.T, a ratelimit.Algorithm, policies int, denied bool) {
	var clock limittest.Clock
	config := ratelimit.Config{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})}
	for i := range policies {
		config.Policies = append(config.Policies, pol(fmt.Sprintf("p%d", i), ratelimit.PerSecond(5).Using(a)))
	}
	limits := ratelimit.Must(config)
	step, want := time.Second, ratelimit.Allowed
	if denied {
		limits.Allow(t.Context(), "203.0.113.7", 5)
		step, want = 0, ratelimit.Denied
	}
	ctx, view := t.Context(), get("203.0.113.7")
	decide := func(limits *ratelimit.Limiter) func() {
		return func() {
			clock.Advance(step)
			ticket := limits.Begin(view)
			if ticket.Outcome() != want {
				t.Fatalf("%v, want %v", ticket.Outcome(), want)
			}
			for i := 0; ; i++ {
				if _, _, ok := ticket.HeaderAt(i); !ok {
					break
				}
			}
			if _, body := ticket.Body(); (body != nil) != denied {
				t.Fatalf("body %q", body)
			}
			ticket.End(200, nil)
		}
	}
	cases := map[string]func(){
		"Allow": func() { clock.Advance(step); limits.Allow(ctx, "203.0.113.7", 1) },
		"Peek":  func() { limits.Peek(ctx, "203.0.113.7") },
		"Begin": decide(limits),
	}
	for name, style := range map[string]ratelimit.HeaderStyle{
		"Begin, Draft6":  {Draft: ratelimit.Draft6, ResetDelta: true},
		"Begin, Draft11": {Draft: ratelimit.Draft11, Jitter: time.Second},
	} {
		styled := config
		styled.Headers = style
		cases[name] = decide(ratelimit.Must(styled))
	}
	for _, answer := range []ratelimit.AnswerStyle{ratelimit.AnswerProblem, ratelimit.AnswerText} {
		styled := config
		styled.Answer = answer
		cases[fmt.Sprintf("Begin, answer %d", answer)] = decide(ratelimit.Must(styled))
	}
	for name, f := range cases {
		if got := testing.AllocsPerRun(200, f); got != 0 {
			t.Errorf("%s, %v, %d policies, denied %v: %v allocations, want none", name, a, policies, denied, got)
		}
	}
}

// A key that has to be hashed allocates nothing either.
func TestAllocationsOfALongKey(t *testing.T) {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(ratelimit.MaxQuota))}})
	view := get(strings.Repeat("x", 1000))
	if got := testing.AllocsPerRun(200, func() { limits.Begin(view).End(200, nil) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
