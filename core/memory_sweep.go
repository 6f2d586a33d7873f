package ratelimit

import (
	"math/bits"
	"sync/atomic"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// sweeper goes round all shards of all spaces, a few slots at a time, on the back
// of whatever calls come: no goroutine, and no call that stops the world.
type sweeper struct {
	due    atomic.Int64 // µs
	cursor atomic.Uint64
}

const (
	sweepEvery = 100        // µs between two steps: under load, a hundredth of the calls make one
	minLife    = 60_000_000 // µs: a clock going back by up to this finds what it wrote
)

// step forgets what is idle in the next few slots, where it is time to.
func (m *Memory) step(now int64) {
	due := m.sweep.due.Load()
	if now < due && due-now <= sweepEvery || !m.sweep.due.CompareAndSwap(due, now+sweepEvery) {
		return
	}
	spaces := *m.spaces.Load()
	cursor := m.sweep.cursor.Load()
	sp := spaces[cursor/maxShards%uint64(len(spaces))]
	number := int(cursor % maxShards)
	done := true
	if number < len(sp.shards) {
		sh := &sp.shards[number]
		if !sh.mu.TryLock() {
			return
		}
		var evicted int
		done, evicted = sh.sweep(sp, now)
		sh.mu.Unlock()
		sp.evictions.Add(int64(evicted))
	} else {
		cursor |= maxShards - 1 // this space has fewer shards: on to the next one
	}
	if done {
		m.sweep.cursor.Store(cursor + 1)
	}
}

// sweep forgets idle keys in the next few buckets and reports whether it has been
// through the whole shard.
func (sh *memoryShard) sweep(sp *memorySpace, now int64) (done bool, evicted int) {
	if sh.old.buckets > 0 {
		return false, sh.move(sp, moveBuckets, now)
	}
	width := bucketSlots * sh.live.stride
	for range sweepBuckets {
		if sh.hand >= len(sh.live.words) {
			sh.hand = 0
			sh.shrink(sp)
			return true, 0
		}
		sh.visited += bucketSlots
		for i, tag := range sh.live.tags(sh.hand) {
			slot := sh.live.slot(sh.hand, i)
			if tag != 0 && now-sh.live.last(slot) > max(sp.window, minLife) && sp.idle(&sh.live, slot, now) {
				sh.drop(sp, &sh.live, slot)
			}
		}
		sh.hand += width
	}
	return false, 0
}

// shrink gives memory back where most of it is unused.
func (sh *memoryShard) shrink(sp *memorySpace) {
	switch {
	case sh.live.keys == 0:
		sh.live = table{}
	case sh.live.keys*outOf < sh.live.slots()*shrinkBelow:
		sh.resize(sp, sh.live.keys*outOf/(growAt*bucketSlots)*3/2+1)
	}
}

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
	case sp.penalty != nil:
		l := sh.logs.view(t.log(slot))
		algorithm.Strike(&l, t.ban(slot), t.last(slot), sp.penalty, now, false, &out)
		return out.Remaining, sp.penalty.Denials
	case class < len(known):
		ask.Quota, ask.Capacity = known[class].Quota, known[class].Capacity()
	default:
		ask.Quota = sp.slowest.Load()
		ask.Capacity = ask.Quota
	}
	if sp.log {
		l := sh.logs.view(t.log(slot))
		algorithm.SlidingLog(&l, &ask, &out)
		return out.Remaining, ask.Capacity
	}
	return max(0, ask.Capacity-algorithm.Used(sp.kind, t.load(slot), &ask)), ask.Capacity
}
