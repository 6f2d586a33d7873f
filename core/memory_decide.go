package ratelimit

import (
	"time"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// decide fills the results and marks what is to be written.
func (t *memoryTake) decide() {
	for i := range t.claims {
		if c := &t.claims[i]; c.root == i {
			c.load()
		}
	}
	over := false
	for i := range t.charges {
		c := &t.charges[i]
		switch {
		case c.Mode == Strike || c.Mode == Spill: // later, and with the charge before
		case c.Mode == Enforce && i+1 < len(t.charges) && t.charges[i+1].Mode == Spill:
			over = !t.pair(i) || over
		default:
			fits := t.charge(i, c.Cost, c.MaxDelay, c.Mode == Force)
			over = over || !fits && c.Mode == Enforce
		}
	}
	denied := over
	for i := range t.charges {
		if t.charges[i].Mode == Strike {
			denied = !t.strike(i, over) || denied
		}
	}
	if denied && len(t.charges) > 1 {
		t.untouched()
	}
}

// charge puts a cost on the i-th charge's key, where it fits or is forced, and
// reports whether it fits.
func (t *memoryTake) charge(i int, cost int64, maxDelay time.Duration, force bool) bool {
	c, root := &t.charges[i], &t.claims[t.claims[i].root]
	var out algorithm.Answer
	root.ask(t.now, &c.Limit, cost, root.ahead, maxDelay, force, &out)
	fillResult(&t.results[i], &out, t.now)
	if out.Units > 0 {
		root.ahead += out.Units
		root.at, root.write = out.At, true
		root.class = root.space.classOf(&c.Limit, out.Used)
	}
	return out.Allowed
}

// pair puts a cost on an Enforce charge's key as far as it has quota left, and the
// rest on that of the Spill behind it.
func (t *memoryTake) pair(i int) bool {
	cost, first := t.charges[i].Cost, &t.claims[t.claims[i].root]
	ahead := first.ahead
	t.charge(i, 0, 0, false)
	part := min(cost, t.results[i].Remaining)
	t.charge(i, part, 0, false)
	if t.charge(i+1, cost-part, 0, false) {
		return true
	}
	first.ahead = ahead
	wait := t.pairWait(i)
	for j := i; j <= i+1; j++ {
		t.results[j].Allowed, t.results[j].RetryAfter = false, wait
	}
	return false
}

// pairWait returns the wait until two keys together hold a cost. What is left of
// either only grows, so the instant can be searched for.
func (t *memoryTake) pairWait(i int) time.Duration {
	left, full := func(j int, wait int64) int64 {
		var out algorithm.Answer
		root := &t.claims[t.claims[j].root]
		root.ask(t.now+wait, &t.charges[j].Limit, 0, 0, 0, false, &out)
		return max(0, out.Remaining-root.ahead)
	}, func(j int) int64 {
		return max(0, t.charges[j].Limit.Capacity()-t.claims[t.claims[j].root].ahead)
	}
	cost := t.charges[i].Cost
	if full(i)+full(i+1) < cost {
		return Never
	}
	low, high := int64(0), int64(algorithm.Forever)
	for low < high {
		if mid := (low + high) / 2; left(i, mid)+left(i+1, mid) >= cost {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return micros(low)
}

// strike looks whether the i-th charge's key is banned, counting a denial first
// where there was one. It reports whether the Take may pass.
func (t *memoryTake) strike(i int, over bool) bool {
	charge, c := &t.charges[i], &t.claims[i]
	if c.root != i {
		t.results[i] = t.results[c.root]
		return t.results[i].Allowed || charge.Cost == 0
	}
	var out algorithm.Answer
	gone, ban, counted := algorithm.Strike(&c.log, c.ban, c.ref.last, c.space.penalty.Load(), t.now, over && charge.Cost > 0, &out)
	fillResult(&t.results[i], &out, t.now)
	if counted {
		c.gone, c.ban, c.at, c.write = gone, ban, out.At, true
		if out.Allowed {
			c.ahead = 1
		}
	}
	return out.Allowed || charge.Cost == 0
}

// untouched makes the results of a denied Take: nothing but strikes is written, and
// the numbers are those of the state as it was.
func (t *memoryTake) untouched() {
	for i := range t.charges {
		c, root, r := &t.charges[i], &t.claims[t.claims[i].root], &t.results[i]
		if c.Mode == Strike {
			continue
		}
		root.ahead, root.write = 0, false
		allowed, retry := r.Allowed, r.RetryAfter
		var out algorithm.Answer
		root.ask(t.now, &c.Limit, 0, 0, 0, false, &out)
		fillResult(r, &out, t.now)
		r.Allowed, r.RetryAfter = allowed, retry
	}
}

// fillResult tells an answer in durations.
func fillResult(r *Result, a *algorithm.Answer, now int64) {
	*r = Result{
		Allowed: a.Allowed, Used: a.Used, Remaining: a.Remaining,
		RetryAfter: micros(a.Retry), ResetAfter: micros(a.Reset), NextAfter: micros(a.Next), Delay: micros(a.Delay),
		Now:     max(1, now), // 0 would be: not asked
		Receipt: Receipt{At: a.At, Units: a.Units, End: a.End},
	}
}

// micros returns a wait of the algorithms' as a duration.
func micros(wait int64) time.Duration {
	if wait == algorithm.NeverFits {
		return Never
	}
	return time.Duration(wait) * time.Microsecond
}
