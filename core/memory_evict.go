package ratelimit

import (
	"math/bits"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// victim is the key that a new one displaces: an idle one, else the one with the
// largest share of its quota left, else the one that was charged longest ago.
type victim struct {
	table      *table
	base, i    int
	idle       bool
	left, full int64 // units, of the limit it was written under
	last       int64
}

// evict forgets a key out of a sample around where the new key's fingerprint points,
// which nobody outside can choose, and returns how many it forgot.
func (sh *memoryShard) evict(sp *memorySpace, fp fingerprint, now int64) int {
	var v victim
	width := bucketSlots * sp.stride
	base := sh.live.bucket(bits.RotateLeft64(fp.rest, 32))
	for n := 0; n < min(mostSampled, int(sh.live.buckets)) && (n < sampleBuckets || v.table == nil); n++ {
		v.look(sp, sh, &sh.live, base, now)
		if base += width; base == len(sh.live.words) {
			base = 0
		}
	}
	for base := sh.moved; base < min(sh.moved+sampleBuckets*width, len(sh.old.words)); base += width {
		v.look(sp, sh, &sh.old, base, now)
	}
	return v.remove(sp, sh)
}

// look considers the keys of a bucket.
func (v *victim) look(sp *memorySpace, sh *memoryShard, t *table, base int, now int64) {
	sh.visited += bucketSlots
	known := *sp.limits.Load()
	for i, tag := range t.tags(base) {
		if tag == 0 {
			continue
		}
		slot := t.slot(base, i)
		c := victim{table: t, base: base, i: i, last: t.last(slot), idle: sp.idle(t, slot, now), left: 1, full: 1}
		if !c.idle {
			c.left, c.full = sp.left(sh, t, slot, known, now)
		}
		if v.table == nil || c.before(v) {
			*v = c
		}
	}
}

func (v *victim) before(o *victim) bool {
	if v.idle != o.idle {
		return v.idle
	}
	if a, b := v.left*o.full, o.left*v.full; a != b {
		return a > b
	}
	return v.last < o.last
}

func (v *victim) remove(sp *memorySpace, sh *memoryShard) int {
	if v.table == nil {
		return 0
	}
	sh.drop(sp, v.table, v.table.slot(v.base, v.i))
	if v.idle {
		return 0
	}
	return 1
}

// left returns what a key has left, and of how much.
func (sp *memorySpace) left(sh *memoryShard, t *table, slot int, known []Limit, now int64) (left, full int64) {
	ask := algorithm.Ask{Now: now, Window: sp.window}
	var out algorithm.Answer
	switch class := t.class(slot); {
	case sp.strikes:
		l := sh.logs.view(t.log(slot))
		algorithm.Strike(&l, t.ban(slot), t.last(slot), sp.penalty.Load(), now, false, &out)
		return out.Remaining, sp.penalty.Load().Denials
	case class < len(known):
		ask.Quota, ask.Capacity = known[class].Quota, known[class].Capacity()
	default:
		return int64(otherLimit + otherSteps - class), otherSteps
	}
	if sp.log {
		l := sh.logs.view(t.log(slot))
		algorithm.SlidingLog(&l, &ask, &out)
		return out.Remaining, ask.Capacity
	}
	return max(0, ask.Capacity-algorithm.Used(sp.kind, t.load(slot), &ask)), ask.Capacity
}
