package model

import (
	"math/big"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// gcra is the tally of GCRA: ns of time that are still to pass, as of an instant,
// and the ns a unit took when it was written.
type gcra struct {
	level    *big.Int
	interval *big.Int
	as       int64
}

var mostTime = num(1 << 62) // ns that a level reaches

// interval returns the ns that a unit takes: W/N, rounded up.
func interval(l ratelimit.Limit) *big.Int { return ceilDiv(num(int64(l.Window)), num(l.Quota)) }

func (g *gcra) last() int64 { return g.as }

func (g *gcra) clone() tally { c := *g; return &c }

// drained returns the level at an instant, at the rate it was written at.
func (g *gcra) drained(at int64) *big.Int {
	return positive(sub(g.level, mul(num(at-g.as), num(1000))))
}

// converted returns the level at an instant, at the rate of l.
func (g *gcra) converted(l ratelimit.Limit, at int64) *big.Int {
	return lesser(mostTime, ceilDiv(mul(g.drained(at), interval(l)), g.interval))
}

func (g *gcra) used(l ratelimit.Limit, at int64) int64 {
	return clip(ceilDiv(g.converted(l, at), interval(l)))
}

func (g *gcra) wait(l ratelimit.Limit, at, target, slack int64) int64 {
	return g.until(l, at, add(mul(num(target), interval(l)), mul(num(slack), num(1000))))
}

// until returns the shortest wait until at most goal ns are left, converted. The
// state drains at its own rate until then: x·new/old, rounded up, is at most goal
// where x is at most goal·old/new, rounded down.
func (g *gcra) until(l ratelimit.Limit, at int64, goal *big.Int) int64 {
	if goal.Sign() < 0 {
		return never
	}
	goal = floorDiv(mul(goal, g.interval), interval(l))
	return clip(ceilDiv(sub(g.drained(at), goal), num(1000)))
}

func (g *gcra) room(l ratelimit.Limit, at int64) int64 {
	inTime := floorDiv(sub(mostTime, g.converted(l, at)), interval(l))
	return max(0, min(maxLevel-g.used(l, at), clip(inTime)))
}

func (g *gcra) roomWait(l ratelimit.Limit, at, units int64) int64 {
	return max(g.wait(l, at, maxLevel-units, 0), g.until(l, at, sub(mostTime, mul(num(units), interval(l)))))
}

func (g *gcra) put(l ratelimit.Limit, at, units int64) {
	g.write(l, at, add(g.converted(l, at), mul(num(units), interval(l))))
}

func (g *gcra) write(l ratelimit.Limit, at int64, level *big.Int) {
	g.level, g.interval, g.as = level, interval(l), at
}

func (g *gcra) refund(l ratelimit.Limit, at, units int64, _ *ratelimit.Receipt) bool {
	level := g.converted(l, at)
	back := lesser(mul(num(units), interval(l)), level)
	if back.Sign() > 0 {
		g.write(l, at, sub(level, back))
	}
	return true
}
