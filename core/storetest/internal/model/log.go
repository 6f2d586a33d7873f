package model

import (
	"slices"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// logged is the tally of the sliding log, and of leases: the charges, oldest
// first. One made at s counts while s > t - W.
type logged struct {
	entries []entry
	most    int64
	vague   int64 // before this instant it is up to the store what counts
}

type entry struct{ at, units int64 }

func (g *logged) last() int64 {
	if len(g.entries) == 0 {
		return 0
	}
	return g.entries[len(g.entries)-1].at
}

func (g *logged) clone() tally { c := *g; c.entries = slices.Clone(g.entries); return &c }

// live returns the entries that count at an instant.
func (g *logged) live(l ratelimit.Limit, at int64) []entry {
	return after(g.entries, at-micros(l.Window))
}

// after returns the entries made after an instant.
func after(entries []entry, at int64) []entry {
	first := slices.IndexFunc(entries, func(e entry) bool { return e.at > at })
	if first < 0 {
		return nil
	}
	return entries[first:]
}

func sum(entries []entry) (n int64) {
	for _, e := range entries {
		n += e.units
	}
	return n
}

func (g *logged) used(l ratelimit.Limit, at int64) int64 { return sum(g.live(l, at)) }

func (g *logged) wait(l ratelimit.Limit, at, target, _ int64) (wait int64) {
	if target < 0 {
		return never
	}
	live := g.live(l, at)
	left := sum(live)
	for _, e := range live {
		if left <= target {
			break
		}
		left -= e.units
		wait = e.at + micros(l.Window) - at
	}
	return wait
}

func (g *logged) room(l ratelimit.Limit, at int64) int64 { return maxLevel - g.used(l, at) }

func (g *logged) roomWait(l ratelimit.Limit, at, units int64) int64 {
	return g.wait(l, at, maxLevel-units, 0)
}

// put adds an entry, or adds to the newest one where that is of the same instant
// or there may be no more. What has expired is dropped.
func (g *logged) put(l ratelimit.Limit, at, units int64) {
	g.blur(l, at)
	g.entries = slices.Clone(g.live(l, at))
	n := len(g.entries)
	if n > 0 && (g.entries[n-1].at == at || int64(n) >= g.most) {
		g.entries[n-1].units += units
		return
	}
	g.entries = append(g.entries, entry{at, units})
}

func (g *logged) refund(l ratelimit.Limit, at, units int64, r *ratelimit.Receipt) bool {
	g.blur(l, at)
	i := slices.IndexFunc(g.entries, func(e entry) bool { return e.at == r.At })
	if i >= 0 && r.At > at-micros(l.Window) {
		g.entries[i].units -= min(units, g.entries[i].units)
		g.entries = slices.DeleteFunc(g.entries, func(e entry) bool { return e.units == 0 })
	}
	return len(g.entries) > 0
}

// blur marks what a write finds expired: a store may drop it then, or keep it until
// a later write, which shows where the clock steps back.
func (g *logged) blur(l ratelimit.Limit, at int64) {
	for _, e := range g.entries[:len(g.entries)-len(g.live(l, at))] {
		g.vague = max(g.vague, e.at+micros(l.Window))
	}
}
