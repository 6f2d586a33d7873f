package storetest

import (
	"math"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const longest = 1 << 53 // µs: longer waits are told as that

// numberChecks hold what the numbers of a result promise, at both sides of each
// boundary and without the model.
func numberChecks() []check {
	return slices.Concat(
		eachAlgorithm("waiting RetryAfter is admitted and 1 µs less is not", retryAfter),
		eachAlgorithm("NextAfter brings one more and 1 µs less does not", nextAfter),
		eachAlgorithm("ResetAfter brings all back and 1 µs less does not", resetAfter),
		eachAlgorithm("Remaining is the largest cost admitted", remaining),
		eachAlgorithm("a cost above the capacity is told Never and leaves no trace", aboveCapacity),
		eachAlgorithm("a cost of the whole capacity has a finite wait", wholeCapacity),
		eachAlgorithm("a limit of one admits one", limitOfOne),
		[]check{
			{"reservations", "token_bucket", []ratelimit.Algorithm{ratelimit.TokenBucket}, "", func(t testing.TB, h Harness) { reservation(t, h, ratelimit.TokenBucket) }},
			{"reservations", "gcra", []ratelimit.Algorithm{ratelimit.GCRA}, "", func(t testing.TB, h Harness) { reservation(t, h, ratelimit.GCRA) }},
			{"waits below a millisecond still limit", "token_bucket", []ratelimit.Algorithm{ratelimit.TokenBucket}, "", shortWaits},
		},
		spanChecks(),
	)
}

// within reports whether a wait can be waited.
func (a account) within(wait time.Duration) bool {
	return wait != ratelimit.Never && micros(wait) < longest && a.clock.Micros()+micros(wait) <= maxTime
}

func retryAfter(t testing.TB, h Harness, a ratelimit.Algorithm) {
	situations(t, h, a, func(g *generator, acc account) {
		cost := max(1, g.size(1, acc.limit.Capacity()))
		r := acc.ask(cost)
		if r.Allowed || !acc.within(r.RetryAfter) {
			return
		}
		if r.RetryAfter <= 0 {
			acc.Fatalf("%d of %s denied with RetryAfter %v", cost, limitText(acc.limit), r.RetryAfter)
		}
		acc.wait(r.RetryAfter - time.Microsecond)
		if early := acc.deny(cost); early.RetryAfter != time.Microsecond {
			acc.Fatalf("%d of %s, 1 µs early: want RetryAfter 1µs, got %v", cost, limitText(acc.limit), early.RetryAfter)
		}
		acc.wait(time.Microsecond)
		acc.admit(cost)
	})
}

func nextAfter(t testing.TB, h Harness, a ratelimit.Algorithm) {
	situations(t, h, a, func(_ *generator, acc account) {
		r := acc.look()
		if (r.NextAfter == 0) != (r.Used == 0) {
			acc.Fatalf("%s: want NextAfter 0 where nothing is used, only, got %s", limitText(acc.limit), resultText(r))
		}
		if !acc.within(r.NextAfter) || r.NextAfter == 0 {
			return
		}
		acc.wait(r.NextAfter - time.Microsecond)
		if early := acc.look(); early.Remaining != r.Remaining || early.NextAfter != time.Microsecond {
			acc.Fatalf("%s, 1 µs before NextAfter: want remaining %d, got %s", limitText(acc.limit), r.Remaining, resultText(early))
		}
		acc.wait(time.Microsecond)
		if next := acc.look(); next.Remaining <= r.Remaining {
			acc.Fatalf("%s, after NextAfter: want remaining above %d, got %s", limitText(acc.limit), r.Remaining, resultText(next))
		}
	})
}

func resetAfter(t testing.TB, h Harness, a ratelimit.Algorithm) {
	situations(t, h, a, func(_ *generator, acc account) {
		r := acc.look()
		if (r.ResetAfter == 0) != (r.Used == 0) {
			acc.Fatalf("%s: want ResetAfter 0 where nothing is used, only, got %s", limitText(acc.limit), resultText(r))
		}
		if !acc.within(r.ResetAfter) || r.ResetAfter == 0 {
			return
		}
		acc.wait(r.ResetAfter - time.Microsecond)
		if early := acc.look(); early.Used == 0 {
			acc.Fatalf("%s, 1 µs before ResetAfter: want something used, got %s", limitText(acc.limit), resultText(early))
		}
		acc.wait(time.Microsecond)
		acc.used(0)
		acc.admit(acc.limit.Capacity())
	})
}

func remaining(t testing.TB, h Harness, a ratelimit.Algorithm) {
	situations(t, h, a, func(_ *generator, acc account) {
		r := acc.look()
		if r.Remaining < 0 || r.Remaining > acc.limit.Capacity() {
			acc.Fatalf("%s: remaining %d is out of range", limitText(acc.limit), r.Remaining)
		}
		acc.deny(r.Remaining + 1)
		if r.Remaining > 0 {
			acc.admit(r.Remaining)
			acc.deny(1)
		}
	})
}

func aboveCapacity(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	for _, n := range []int64{0, 4, 6} {
		if n > 0 {
			acc.admit(n)
		}
		before := acc.look()
		for _, cost := range []int64{11, 1 << 31, 1 << 53, math.MaxInt64} {
			if r := acc.deny(cost); r.RetryAfter != ratelimit.Never {
				acc.Fatalf("cost %d of 10: want Never, got %v", cost, r.RetryAfter)
			}
		}
		acc.same("after costs above the capacity", before, acc.look())
	}
}

func wholeCapacity(t testing.TB, h Harness, a ratelimit.Algorithm) {
	for _, n := range []int64{1, 2, 7, min(10_000, h.logQuota())} {
		acc := newLab(t, h).account("policy", per(a, n, 7*time.Second))
		acc.admit(n)
		r := acc.deny(n)
		if r.RetryAfter <= 0 || r.RetryAfter > 14*time.Second {
			acc.Fatalf("%d of %d: want a wait of at most two windows, got %v", n, n, r.RetryAfter)
		}
		acc.wait(r.RetryAfter)
		acc.admit(n)
	}
}

func limitOfOne(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 1, time.Minute))
	for range 5 {
		acc.admit(1)
		acc.wait(acc.deny(1).RetryAfter)
	}
}

// reservation: 10 a second are one each 100 ms, so that two more than the capacity
// wait 200 ms.
func reservation(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Second).WithBurst(5))
	reserve := func(cost int64, within time.Duration) ratelimit.Result {
		c := acc.charge(cost)
		c.MaxDelay = within
		return acc.take(c)[0]
	}
	const ms = time.Millisecond
	for i, step := range []struct {
		cost                       int64
		within, wait, delay, retry time.Duration
	}{
		{5, 200 * ms, 0, 0, 0},
		{2, 200 * ms, 0, 200 * ms, 0},
		{1, 299 * ms, 0, 0, ms},
		{1, 300 * ms, 0, 300 * ms, 0},
		{1, 200 * ms, 100 * ms, 0, 100 * ms},
		{1, 200 * ms, 100 * ms, 200 * ms, 0},
		{6, time.Hour, 10 * time.Second, 0, ratelimit.Never},
		{5, time.Hour, 0, 0, 0},
		{0, 0, 0, 0, 0},
	} {
		acc.wait(step.wait)
		r := reserve(step.cost, step.within)
		if r.Allowed != (step.retry == 0) || r.Delay != step.delay || r.RetryAfter != step.retry {
			t.Fatalf("step %d, %d within %v: want delay %v, RetryAfter %v, got %s", i, step.cost, step.within, step.delay, step.retry, resultText(r))
		}
	}
}

// shortWaits: 5,000 a second with a burst of 1 admits one each 200 µs.
func shortWaits(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", ratelimit.PerSecond(5000).WithBurst(1))
	admitted := 0
	for range 1000 {
		if acc.ask(1).Allowed {
			admitted++
		}
		acc.wait(50 * time.Microsecond)
	}
	if admitted != 250 {
		t.Fatalf("1,000 calls in 50 ms: want 250 admitted, got %d", admitted)
	}
}
