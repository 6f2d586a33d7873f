package storetest

import (
	"context"
	"math/bits"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// pick returns one of the values.
func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// size returns a number from lo to hi, as often small as large.
func (g *generator) size(lo, hi int64) int64 {
	n := g.Int64() >> (1 + g.IntN(62))
	if n = lo + n%(hi-lo+1); g.IntN(2) == 0 {
		return min(hi, int64(1)<<g.IntN(bits.Len64(uint64(hi)))+lo-1)
	}
	return n
}

func (g *generator) quota(most int64) int64 {
	if g.IntN(2) == 0 {
		return min(most, pick[int64](g, 1, 1, 2, 3, 5, 7, 10, 60, 100, 1000, 100_000, most-1, most))
	}
	return g.size(1, most)
}

// window returns a window in whole µs.
func (g *generator) window() time.Duration {
	if g.IntN(2) == 0 {
		return pick(g, time.Millisecond, 1001*time.Microsecond, 7*time.Millisecond, time.Second, 7*time.Second, time.Minute,
			time.Hour, 24*time.Hour, 30*24*time.Hour, 366*24*time.Hour-time.Microsecond, ratelimit.MaxWindow)
	}
	return duration(g.size(micros(ratelimit.MinWindow), micros(ratelimit.MaxWindow)))
}

// limit returns a limit of an algorithm and window, often close to one of known.
func (g *generator) limit(a ratelimit.Algorithm, window time.Duration, known []ratelimit.Limit) ratelimit.Limit {
	for {
		l := ratelimit.Limit{Algorithm: a, Window: window}
		most := int64(ratelimit.MaxQuota)
		if a == ratelimit.SlidingLog {
			most = g.h.logQuota()
		}
		l.Quota = g.quota(most)
		if len(known) > 0 && g.IntN(2) == 0 {
			q := known[0].Quota
			l.Quota = min(most, pick(g, q+1, max(1, q-1), 2*q, 1+q/2, 3*q))
		}
		if bucket := a <= ratelimit.LeakyBucket; bucket && g.IntN(2) == 0 {
			l.Burst = pick(g, 1, 2, l.Quota, 1+l.Quota/2, min(most, 2*l.Quota), g.quota(most))
		}
		if l.Validate() == nil {
			return l
		}
	}
}

func (g *generator) penalty() ratelimit.Penalty {
	p := ratelimit.Penalty{
		Denials: pick[int64](g, 1, 2, 3, 5), Within: g.window(), Ban: g.window(),
		Factor: pick(g, 0, 1, 1.1, 1.5, 2, 10, 1e9),
	}
	if g.IntN(2) == 0 {
		p.Max = min(ratelimit.MaxWindow, pick[time.Duration](g, 1, 3, 100)*p.Ban)
	}
	return p
}

// cost returns a cost close to what makes a difference.
func (g *generator) cost(c ratelimit.Charge, at int64) int64 {
	n := c.Limit.Capacity()
	switch g.IntN(8) {
	case 0:
		return 0
	case 1, 2:
		return pick[int64](g, 1, 1, 1, 2, 3)
	case 3:
		return pick(g, n, n+1, 1+n/2, 1+n/3)
	case 4:
		return pick(g, 1<<31, 1<<31-1, g.size(1, 1<<31))
	case 5:
		return g.size(1, n)
	default:
		g.stage.clock.Set(at)
		c.Cost, c.Mode = 0, ratelimit.Enforce
		var r [1]ratelimit.Result
		_ = g.stage.model.Take(context.Background(), []ratelimit.Charge{c}, r[:]) // the charge is a sound one
		left := r[0].Remaining
		return pick(g, left, left, left+1, max(0, left-1), 1+left/2)
	}
}

// maxDelay returns how long a reservation may wait. What waits stays below 2^32
// units with the capacity, as the contract of a charge asks.
func (g *generator) maxDelay(l ratelimit.Limit) time.Duration {
	const most = 1 << 51
	unit := max(1, micros(l.Window)/l.Quota)
	units := float64(maxLevel-l.Capacity()) * 0.999
	limit := int64(min(most, units*float64(micros(l.Window))/float64(l.Quota)))
	return duration(min(limit, pick(g, unit, unit*pick[int64](g, 2, 3, 10), micros(l.Window), g.size(1, most))))
}

// start returns the instant that a trace starts at.
func (g *generator) start() int64 {
	const usual = 1_767_225_600_000_000 // 2026
	switch g.IntN(12) {
	case 0:
		return g.Int64N(1000)
	case 1:
		return maxTime - g.size(0, 1<<50)
	case 2:
		w := micros(g.limits[0].Window)
		return usual - usual%w
	default:
		return usual + g.Int64N(1<<40)
	}
}

// instant returns when the next step happens.
func (g *generator) instant() int64 {
	now := g.stage.clock.Micros()
	l := g.limits[g.IntN(len(g.limits))]
	w := micros(l.Window)
	near := pick[int64](g, -1, 0, 0, 1)
	to := now
	switch kind := g.IntN(40); {
	case kind < 6:
	case kind < 18 && len(g.edges) > 0:
		to = g.edges[g.IntN(len(g.edges))] + near
	case kind < 20:
		to = now + w + near
	case kind < 22:
		to = (now/w+1)*w + near
	case kind < 23:
		to = (now/w+2)*w - g.Int64N(w)
	case kind < 27:
		to = now + g.size(0, max(1, w/l.Quota))
	case kind < 33:
		to = now + g.size(0, w)
	case kind < 34:
		to = now + g.size(0, 3*w)
	case kind < 38:
		to = now - g.back(w)
	case kind < 39:
		to = now + 1
	case g.IntN(20) == 0:
		to = now + twoCenturies
	}
	return min(max(to, 0), maxTime)
}

// back returns how far a clock steps back.
func (g *generator) back(w int64) int64 {
	near := pick[int64](g, -1, 0, 1)
	return pick(g, 1, g.size(1, 5_000_000), g.size(1, w), w+near, minBack+near, max(w, minBack)+near, 3*max(w, minBack))
}
