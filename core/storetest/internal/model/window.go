package model

import (
	"math/bits"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// fixed is the tally of the fixed window: the count of the window that the last
// write lies in.
type fixed struct{ count, as int64 }

// windowOf returns the number of the window that an instant lies in.
func windowOf(l ratelimit.Limit, at int64) int64 { return at / micros(l.Window) }

func (f *fixed) last() int64 { return f.as }

func (f *fixed) clone() tally { c := *f; return &c }

func (f *fixed) used(l ratelimit.Limit, at int64) int64 {
	if windowOf(l, at) != windowOf(l, f.as) {
		return 0
	}
	return f.count
}

func (f *fixed) wait(l ratelimit.Limit, at, target, _ int64) int64 {
	switch {
	case target < 0:
		return never
	case f.used(l, at) <= target:
		return 0
	default:
		return (windowOf(l, at)+1)*micros(l.Window) - at
	}
}

func (f *fixed) room(l ratelimit.Limit, at int64) int64 { return maxLevel - f.used(l, at) }

func (f *fixed) roomWait(l ratelimit.Limit, at, units int64) int64 {
	return f.wait(l, at, maxLevel-units, 0)
}

func (f *fixed) put(l ratelimit.Limit, at, units int64) { f.count, f.as = f.used(l, at)+units, at }

func (f *fixed) refund(l ratelimit.Limit, at, units int64, r *ratelimit.Receipt) bool {
	count := f.used(l, at)
	if back := min(units, count); back > 0 && windowOf(l, r.At) == windowOf(l, at) {
		f.count, f.as = count-back, at
	}
	return true
}

// counter is the tally of the sliding counter: the counts of the window that the
// last write lies in and of the one before it.
type counter struct{ cur, prev, as int64 }

func (c *counter) last() int64 { return c.as }

func (c *counter) clone() tally { d := *c; return &d }

// counts returns the counts of the window of an instant and of the one before it.
func (c *counter) counts(l ratelimit.Limit, at int64) (cur, prev int64) {
	switch windowOf(l, at) - windowOf(l, c.as) {
	case 0:
		return c.cur, c.prev
	case 1:
		return 0, c.cur
	default:
		return 0, 0
	}
}

func (c *counter) used(l ratelimit.Limit, at int64) int64 {
	cur, prev := c.counts(l, at)
	width := uint64(micros(l.Window))
	hi, lo := bits.Mul64(uint64(prev), width-uint64(at)%width)
	weighed, _ := bits.Div64(hi, lo, width) // exact, in 128 bits: at most prev
	return cur + int64(weighed)
}

// wait searches: the estimate never rises while nobody charges, and is 0 from the
// end of the next window on.
func (c *counter) wait(l ratelimit.Limit, at, target, _ int64) int64 {
	if target < 0 {
		return never
	}
	return search(0, (windowOf(l, at)+2)*micros(l.Window)-at, func(wait int64) bool { return c.used(l, at+wait) <= target })
}

func (c *counter) room(l ratelimit.Limit, at int64) int64 {
	cur, _ := c.counts(l, at)
	return maxLevel - cur
}

func (c *counter) roomWait(l ratelimit.Limit, at, units int64) int64 {
	return search(0, (windowOf(l, at)+2)*micros(l.Window)-at, func(wait int64) bool { return c.room(l, at+wait) >= units })
}

func (c *counter) put(l ratelimit.Limit, at, units int64) {
	cur, prev := c.counts(l, at)
	c.cur, c.prev, c.as = cur+units, prev, at
}

func (c *counter) refund(l ratelimit.Limit, at, units int64, r *ratelimit.Receipt) bool {
	cur, prev := c.counts(l, at)
	charged := &cur
	switch windowOf(l, at) - windowOf(l, r.At) {
	case 0:
	case 1:
		charged = &prev
	default:
		return true
	}
	if back := min(units, *charged); back > 0 {
		*charged -= back
		c.cur, c.prev, c.as = cur, prev, at
	}
	return true
}

// search returns the least n from lo to hi for which ok holds. It holds for all
// after the first; hi where it holds for none before.
func search(lo, hi int64, ok func(int64) bool) int64 {
	for lo < hi {
		if mid := lo + (hi-lo)/2; ok(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
