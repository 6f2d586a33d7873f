package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// One a second, two at once, waits of up to two seconds: the third of an instant
// waits one second, the fourth two, the fifth is denied.
func TestDelay(t *testing.T) {
	for _, a := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.GCRA} {
		b := newBench(over(pol("api", ratelimit.PerSecond(1).WithBurst(2).Using(a)), ratelimit.Delay(2*time.Second)))
		for i, step := range []struct {
			advance, delay, retry time.Duration
			outcome               ratelimit.Outcome
		}{
			{0, 0, 0, ratelimit.Allowed},
			{0, 0, 0, ratelimit.Allowed},
			{0, time.Second, 0, ratelimit.Allowed},
			{0, 2 * time.Second, 0, ratelimit.Allowed},
			{0, 0, time.Second, ratelimit.Denied},
			{time.Second - time.Microsecond, 0, time.Microsecond, ratelimit.Denied},
			{time.Microsecond, 2 * time.Second, 0, ratelimit.Allowed},
			{5 * time.Second, 0, 0, ratelimit.Allowed},
		} {
			b.clock.Advance(step.advance)
			ticket := b.Begin(get("ann"))
			d := ticket.Decision()
			if ticket.Outcome() != step.outcome || ticket.Delay() != step.delay || d.Delay != step.delay || d.RetryAfter != step.retry {
				t.Errorf("%v, %d: %v, delay %v, retry %v; want %+v", a, i, ticket.Outcome(), ticket.Delay(), d.RetryAfter, step)
			}
			ticket.End(200, nil)
		}
		// A cost above the capacity waits for nothing.
		if d, _ := b.Allow(t.Context(), "bob", 3); d.RetryAfter != ratelimit.Never {
			t.Errorf("%v: three of two: retry after %v", a, d.RetryAfter)
		}
	}
}

// A queue waits by itself, a second apart, and no longer than its burst.
func TestDelayOfAQueue(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerSecond(1).WithBurst(3).Using(ratelimit.LeakyBucket)))
	for i, want := range []time.Duration{0, time.Second, 2 * time.Second} {
		ticket := b.Begin(get("ann"))
		if ticket.Status() != 0 || ticket.Delay() != want {
			t.Errorf("%d: %d, delay %v; want %v", i, ticket.Status(), ticket.Delay(), want)
		}
		ticket.End(200, nil)
	}
	if got := b.begin(get("ann")); got != "denied 429, 0 left" {
		t.Error(got)
	}
}

// Of several policies the longest delay counts, and of a shadow none.
func TestDelayOfSeveral(t *testing.T) {
	slow := over(pol("slow", ratelimit.PerMinute(1)), ratelimit.Delay(time.Hour))
	fast := over(pol("fast", ratelimit.PerSecond(1)), ratelimit.Delay(time.Hour))
	trial := over(pol("trial", ratelimit.PerHour(5).Using(ratelimit.LeakyBucket)), ratelimit.Shadow())
	b := newBench(fast, slow, trial)
	for i, want := range []time.Duration{0, time.Minute, 2 * time.Minute} {
		ticket := b.Begin(get("ann"))
		if ticket.Delay() != want {
			t.Errorf("%d: delay %v, want %v", i, ticket.Delay(), want)
		}
		ticket.End(200, nil)
	}
}

// What Allow returns tells the wait of all policies, whichever of them binds.
func TestDelayOfAllow(t *testing.T) {
	day := pol("day", ratelimit.PerDay(10).Using(ratelimit.FixedWindow))
	queue := pol("q", ratelimit.PerMinute(1).WithBurst(1000).Using(ratelimit.LeakyBucket))
	for _, policies := range [][]ratelimit.Policy{{day, queue}, {queue, day}} {
		b := newBench(policies...)
		for i, want := range []time.Duration{0, time.Minute, 2 * time.Minute} {
			d, err := b.Allow(t.Context(), "ann", 1)
			if err != nil || d.Policy != "day" || d.Delay != want {
				t.Errorf("%d: %s binds, delay %v, %v; want day's decision and the queue's %v", i, d.Policy, d.Delay, err, want)
			}
		}
		if d, _ := b.Peek(t.Context(), "ann"); d.Delay != 0 {
			t.Errorf("a look is told to wait %v", d.Delay)
		}
		if d, _ := b.Allow(t.Context(), "ann", 8); d.Outcome != ratelimit.Denied || d.Delay != 0 {
			t.Errorf("%v, delay %v; want denied at once", d.Outcome, d.Delay)
		}
	}
}

// Nobody stands in the queue of what cannot deny.
func TestDelayOfShadowAndMeter(t *testing.T) {
	limit := ratelimit.PerMinute(1).WithBurst(1000).Using(ratelimit.LeakyBucket)
	for name, o := range map[string]ratelimit.Over{"shadow": ratelimit.Shadow(), "meter": ratelimit.Meter()} {
		b := newBench(over(pol(name, limit), o))
		for i := range 3 {
			if d, _ := b.Allow(t.Context(), "ann", 1); d.Delay != 0 || d.Used != int64(i+1) {
				t.Errorf("%s, %d: Allow tells a delay of %v, %d used", name, i, d.Delay, d.Used)
			}
		}
		ticket := b.Begin(get("ann"))
		if d := ticket.Decision(); d.Delay != 0 || ticket.Delay() != 0 {
			t.Errorf("%s: delay %v of the decision, %v of the ticket", name, d.Delay, ticket.Delay())
		}
		ticket.End(200, nil)
	}
}

// Ticket.Wait waits the delay to the nanosecond, and not at all where there is none.
func TestTicketWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := ratelimit.Must(ratelimit.Config{
			Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: time.Now}),
			Policies: []ratelimit.Policy{over(pol("api", ratelimit.PerSecond(1)), ratelimit.Delay(3*time.Second))},
		})
		for i, want := range []time.Duration{0, time.Second, time.Second} { // each waits for the next
			ticket, start := limits.Begin(get("ann")), time.Now()
			if err := ticket.Wait(t.Context()); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if got := time.Since(start); got != want {
				t.Errorf("%d: waited %v, want %v", i, got, want)
			}
			ticket.End(200, nil)
		}

		denied := limits.Begin(request(limittest.Request{})) // another key
		defer denied.End(200, nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := denied.Wait(ended); err != nil {
			t.Errorf("without a delay Wait returns %v", err)
		}
	})
}

// A wait that is cut short gives back what was charged, under every policy.
func TestTicketWaitGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := over(pol("queue", ratelimit.PerSecond(1)), ratelimit.Delay(time.Minute))
		daily := pol("daily", ratelimit.PerDay(100).Using(ratelimit.FixedWindow))
		limits := ratelimit.Must(ratelimit.Config{
			Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: time.Now}),
			Policies: []ratelimit.Policy{queue, daily},
		})
		limits.Begin(get("ann")).End(200, nil)

		ticket := limits.Begin(get("ann"))
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := ticket.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the context's error", err)
		}
		if got := time.Since(start); got != 400*time.Millisecond {
			t.Errorf("waited %v, want 400ms", got)
		}
		if ticket.Delay() != 0 || ticket.Status() != 503 || ticket.Outcome() != ratelimit.Unavailable {
			t.Errorf("after a wait that failed: %v %d, delay %v", ticket.Outcome(), ticket.Status(), ticket.Delay())
		}
		ticket.End(0, ctx.Err())

		if d, _ := limits.With(daily).Peek(t.Context(), "ann"); d.Remaining != 99 {
			t.Errorf("%d of the day are left, want 99", d.Remaining)
		}
		next := limits.Begin(get("ann"))
		defer next.End(200, nil)
		if got := next.Delay(); got != 600*time.Millisecond {
			t.Errorf("the next waits %v, want the 600ms that the first one left", got)
		}
	})
}
