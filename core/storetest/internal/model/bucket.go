package model

import (
	"math/big"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// bucket is the tally of token and leaky bucket: level/W units as of an instant.
// The denominator W is the space's, so that no change of the limit rounds.
type bucket struct {
	level *big.Int
	as    int64
	queue bool
}

func (b *bucket) last() int64 { return b.as }

func (b *bucket) clone() tally { c := *b; return &c }

// drained returns the level at an instant, N units less each W.
func (b *bucket) drained(l ratelimit.Limit, at int64) *big.Int {
	return positive(sub(b.level, mul(num(at-b.as), num(l.Quota))))
}

func window(l ratelimit.Limit) *big.Int { return num(micros(l.Window)) }

func (b *bucket) used(l ratelimit.Limit, at int64) int64 {
	return clip(ceilDiv(b.drained(l, at), window(l)))
}

func (b *bucket) wait(l ratelimit.Limit, at, target, slack int64) int64 {
	goal := add(mul(num(target), window(l)), mul(num(slack), num(l.Quota)))
	if goal.Sign() < 0 {
		return never
	}
	return clip(ceilDiv(sub(b.drained(l, at), goal), num(l.Quota)))
}

func (b *bucket) room(l ratelimit.Limit, at int64) int64 { return max(0, maxLevel-b.used(l, at)) }

func (b *bucket) roomWait(l ratelimit.Limit, at, units int64) int64 {
	return b.wait(l, at, maxLevel-units, 0)
}

func (b *bucket) put(l ratelimit.Limit, at, units int64) {
	b.level, b.as = add(b.drained(l, at), mul(num(units), window(l))), at
}

func (b *bucket) refund(l ratelimit.Limit, at, units int64, r *ratelimit.Receipt) bool {
	if b.queue && r.End != b.end(l, at) {
		return true // others stand behind this charge: its slot cannot be given away
	}
	level := b.drained(l, at)
	back := lesser(mul(num(units), window(l)), level)
	if back.Sign() > 0 {
		b.level, b.as = sub(level, back), at
	}
	if b.queue {
		r.End = b.end(l, at)
	}
	return true
}

// end returns the instant at which a queue will be empty, as an instant is told.
func (b *bucket) end(l ratelimit.Limit, at int64) int64 {
	return min(at+b.wait(l, at, 0, 0), maxTime)
}
