package ratelimit

import (
	"context"
	"sync/atomic"
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
func (m *Memory) step(ctx context.Context, now int64) {
	due := m.sweep.due.Load()
	if now < due && due-now <= sweepEvery || !m.sweep.due.CompareAndSwap(due, now+sweepEvery) {
		return
	}
	spaces := m.opened()
	if len(spaces) == 0 {
		return
	}
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
		sp.evicted(ctx, evicted, now)
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
			if tag != 0 && sp.forgettable(&sh.live, slot, now) {
				sh.drop(sp, &sh.live, slot)
			}
		}
		sh.hand += width
	}
	return false, 0
}

// forgettable reports whether nobody could tell if a slot's key were forgotten: it
// was idle even at the earliest instant that a clock may step back to.
func (sp *memorySpace) forgettable(t *table, slot int, now int64) bool {
	back := now - max(sp.window, minLife)
	return t.last(slot) < back && sp.idle(t, slot, back)
}

// shrink gives memory back where most of it is unused.
func (sh *memoryShard) shrink(sp *memorySpace) {
	sh.logs.shrink()
	switch {
	case sh.live.keys == 0:
		sh.live, sh.logs = table{}, logArena{}
	case sh.live.keys*outOf < sh.live.slots()*shrinkBelow:
		if n := sh.live.keys*outOf/(growAt*bucketSlots)*3/2 + 1; tableSize(n, sh.number) < int(sh.live.buckets) {
			sh.resize(sp, n)
		}
	}
}
