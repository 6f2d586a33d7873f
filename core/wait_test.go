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

// waiting is a limiter on the clock of a synctest bubble.
func waiting(policies ...ratelimit.Policy) *ratelimit.Limiter {
	return ratelimit.Must(ratelimit.Config{Policies: policies})
}

// Wait returns at the instant at which the cost fits, not before and not after.
func TestWait(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		synctest.Test(t, func(t *testing.T) {
			// The bubble's clock starts at midnight, where windows begin.
			limits := waiting(pol("api", ratelimit.PerSecond(2).Using(a)))
			start := time.Now()
			for i, want := range map[ratelimit.Algorithm][]time.Duration{ // µs
				ratelimit.TokenBucket:    {0, 0, 500_000, 1_000_000, 2_000_000},
				ratelimit.GCRA:           {0, 0, 500_000, 1_000_000, 2_000_000},
				ratelimit.LeakyBucket:    {0, 500_000, 1_000_000, 1_500_000, 2_000_000},
				ratelimit.FixedWindow:    {0, 0, 1_000_000, 1_000_000, 2_000_000},
				ratelimit.SlidingLog:     {0, 0, 1_000_000, 1_000_000, 2_000_000},
				ratelimit.SlidingCounter: {0, 0, 1_000_001, 1_500_001, 2_500_001}, // 2·(W−e)/W is below 2 from 1 µs on
			}[a] {
				n := int64(1)
				if i == 4 {
					n = 2
				}
				if err := limits.Wait(t.Context(), "ann", n); err != nil {
					t.Errorf("%v, %d: %v", a, i, err)
				}
				if got := time.Since(start); got != want*time.Microsecond {
					t.Errorf("%v, %d: returned after %v, want %v", a, i, got, want*time.Microsecond)
				}
			}
		})
	}
}

// Under two policies Wait returns when both admit, and charges neither before.
func TestWaitForSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := waiting(pol("a", ratelimit.PerSecond(1)), pol("b", ratelimit.PerMinute(2)))
		start := time.Now()
		for i, want := range []time.Duration{0, time.Second, 30 * time.Second, 60 * time.Second} {
			if err := limits.Wait(t.Context(), "ann", 1); err != nil {
				t.Error(err)
			}
			if got := time.Since(start); got != want {
				t.Errorf("%d: returned after %v, want %v", i, got, want)
			}
		}
	})
}

// A reservation is waited for, as a denial is.
func TestWaitReserves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := waiting(over(pol("api", ratelimit.PerSecond(1)), ratelimit.Delay(2*time.Second)))
		start := time.Now()
		for i := range 5 {
			if err := limits.Wait(t.Context(), "ann", 1); err != nil {
				t.Error(err)
			}
			if got, want := time.Since(start), time.Duration(i)*time.Second; got != want {
				t.Errorf("%d: returned after %v, want %v", i, got, want)
			}
		}
	})
}

func TestWaitReturnsAtOnce(t *testing.T) {
	boom := errors.New("boom")
	synctest.Test(t, func(t *testing.T) {
		api := pol("api", ratelimit.PerMinute(2))
		closed := api
		closed.OnFailure = ratelimit.FailClosed
		soon, cancel := context.WithTimeout(t.Context(), 30*time.Second-time.Microsecond)
		defer cancel()
		later, cancel := context.WithTimeout(t.Context(), 30*time.Second+time.Microsecond)
		defer cancel()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		used := func(limits *ratelimit.Limiter) *ratelimit.Limiter {
			limits.Allow(t.Context(), "ann", 2)
			return limits
		}
		for _, c := range []struct {
			name   string
			limits *ratelimit.Limiter
			ctx    context.Context
			n      int64
			err    error
			after  time.Duration
		}{
			{"fits", waiting(api), t.Context(), 2, nil, 0},
			{"nothing asked", used(waiting(api)), t.Context(), 0, nil, 0},
			{"never", waiting(api), t.Context(), 3, ratelimit.ErrNever, 0},
			{"deadline", used(waiting(api)), soon, 1, ratelimit.ErrDeadline, 0},
			{"deadline of a reservation", used(waiting(over(api, ratelimit.Delay(time.Minute)))), soon, 1, ratelimit.ErrDeadline, 0},
			{"deadline of a queue", used(waiting(pol("q", ratelimit.PerMinute(1).WithBurst(9).Using(ratelimit.LeakyBucket)))), soon, 1, ratelimit.ErrDeadline, 0},
			{"ended", waiting(api), ended, 1, context.Canceled, 0},
			{"fails open", ratelimit.Must(ratelimit.Config{Store: limittest.Fail(boom), Policies: []ratelimit.Policy{api}}), t.Context(), 1, nil, 0},
			{"fails closed", ratelimit.Must(ratelimit.Config{Store: limittest.Fail(boom), Policies: []ratelimit.Policy{closed}}), t.Context(), 1, ratelimit.ErrUnavailable, 0},
			{"a meter", used(waiting(over(api, ratelimit.Meter()))), t.Context(), 9, nil, 0},
			{"a shadow", used(waiting(over(api, ratelimit.Shadow()))), t.Context(), 9, nil, 0},
			{"just in time", used(waiting(api)), later, 1, nil, 30 * time.Second},
		} {
			start := time.Now()
			if err := c.limits.Wait(c.ctx, "ann", c.n); !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
			if got := time.Since(start); got != c.after {
				t.Errorf("%s: after %v, want %v", c.name, got, c.after)
			}
		}
		if err := waiting(api).Wait(t.Context(), "ann", -1); err == nil {
			t.Error("a negative cost is no error")
		}
	})
}

// What Wait reserved it gives back where the wait is cut short, or would be.
func TestWaitGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := waiting(pol("queue", ratelimit.PerSecond(1).WithBurst(10).Using(ratelimit.LeakyBucket)))
		limits.Allow(t.Context(), "ann", 2)

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := limits.Wait(short, "ann", 1); !errors.Is(err, ratelimit.ErrDeadline) {
			t.Errorf("%v, want ErrDeadline", err)
		}
		if d, _ := limits.Peek(t.Context(), "ann"); d.Used != 2 {
			t.Errorf("%d used, want the 2 from before", d.Used)
		}

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		start := time.Now()
		if err := limits.Wait(ctx, "ann", 3); !errors.Is(err, context.Canceled) || time.Since(start) != 500*time.Millisecond {
			t.Errorf("%v after %v, want cancelled after 500ms", err, time.Since(start))
		}
		if d, _ := limits.Peek(t.Context(), "ann"); d.ResetAfter != 1500*time.Millisecond {
			t.Errorf("the queue is empty after %v, want 1.5s", d.ResetAfter)
		}
	})
}

// Waiters on one key all get through, one after the other.
func TestWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := waiting(pol("api", ratelimit.PerSecond(10).WithBurst(1)))
		start := time.Now()
		done := make(chan time.Duration, 20)
		for range cap(done) {
			go func() {
				if err := limits.Wait(t.Context(), "ann", 1); err != nil {
					t.Error(err)
				}
				done <- time.Since(start)
			}()
		}
		for i := range cap(done) {
			if got, want := <-done, time.Duration(i)*100*time.Millisecond; got != want {
				t.Errorf("%d: through after %v, want %v", i, got, want)
			}
		}
	})
}
