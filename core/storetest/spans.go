package storetest

import (
	"math/rand/v2"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// spanChecks hold how much an algorithm admits in a span of time.
func spanChecks() []check {
	return eachAlgorithm("no span admits more than promised", func(t testing.TB, h Harness, a ratelimit.Algorithm) {
		for n := range uint64(8) {
			rng := rand.New(rand.NewPCG(h.seed(), n))
			l := per(a, 1+rng.Int64N(50), time.Duration(1+rng.Int64N(1000))*time.Millisecond)
			if a <= ratelimit.LeakyBucket {
				l.Burst = 1 + rng.Int64N(60)
			}
			span(t, h, l, rng)
		}
	})
}

// admitted is a charge that was admitted, in µs.
type admitted struct{ at, cost, delay int64 }

// span asks greedily, and looks at every span between two admitted charges.
func span(t testing.TB, h Harness, l ratelimit.Limit, rng *rand.Rand) {
	t.Helper()
	scope := &scope{TB: t}
	defer scope.close()
	acc := newLab(scope, h).account("policy", l)
	window := micros(l.Window)
	var made []admitted
	for range 400 {
		cost := 1 + rng.Int64N(min(3, l.Capacity()))
		r := acc.ask(cost)
		if r.Allowed {
			made = append(made, admitted{acc.clock.Micros(), cost, micros(r.Delay)})
		}
		switch rng.IntN(4) {
		case 0:
			acc.wait(duration(rng.Int64N(window)))
		case 1:
			acc.wait(r.NextAfter)
		case 2:
			acc.wait(duration(rng.Int64N(1 + window/l.Quota)))
		}
	}
	for i, first := range made {
		var sum int64
		for _, m := range made[i:] {
			sum += m.cost
			if most, ok := mostIn(l, first.at, m.at); ok && sum > most {
				t.Fatalf("%s admits %d from %d to %d, want at most %d", limitText(l), sum, first.at, m.at, most)
			}
		}
		if i > 0 && l.Algorithm == ratelimit.LeakyBucket {
			before := made[i-1]
			apart := first.at + first.delay - before.at - before.delay
			if (apart+1)*l.Quota < before.cost*window {
				t.Fatalf("%s: departures %d µs apart after a cost of %d", limitText(l), apart, before.cost)
			}
		}
	}
}

// mostIn returns what a limit may admit from one instant to another, both included,
// and whether it promises anything of that span.
func mostIn(l ratelimit.Limit, from, to int64) (most int64, ok bool) {
	window := micros(l.Window)
	switch l.Algorithm {
	case ratelimit.SlidingLog:
		return l.Quota, to-from < window
	case ratelimit.FixedWindow:
		if from/window == to/window {
			return l.Quota, true
		}
		return 2 * l.Quota, to-from < window
	case ratelimit.SlidingCounter:
		return 2 * l.Quota, to-from < window
	default:
		return l.Capacity() + l.Quota*(to-from)/window, true
	}
}
