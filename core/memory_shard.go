package ratelimit

import (
	"sync"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// memoryShard is a part of a space's keys behind one lock. It grows and shrinks
// bit by bit: while keys move, they are in old or in live, never in both.
type memoryShard struct {
	mu     sync.Mutex
	number int // 0 to 255: spreads the shards' sizes
	live   table
	old    table
	moved  int // words of old whose buckets were moved
	hand   int // where in live the sweep goes on
	logs   logArena

	visited int // slots read, ever: what the bound on a call's work is tested by

	_ [64]byte
}

// How much one call may do beside its own key, in buckets.
const (
	moveBuckets   = 3  // moved by a call that adds a key
	sweepBuckets  = 8  // swept
	sampleBuckets = 4  // looked at for a victim
	mostSampled   = 32 // where those are empty
)

// A table grows at 14 slots in 16, and shrinks below 3.
const (
	growAt, shrinkBelow, outOf = 14, 3, 16
)

// find returns where the key is, or -1.
func (sh *memoryShard) find(fp fingerprint) (*table, int) {
	sh.visited += 2 * bucketSlots
	if slot := sh.live.find(fp); slot >= 0 {
		return &sh.live, slot
	}
	if sh.old.keys > 0 {
		sh.visited += 2 * bucketSlots
		if slot := sh.old.find(fp); slot >= 0 {
			return &sh.old, slot
		}
	}
	return &sh.live, -1
}

// add makes a slot for a key that is not there, and returns how many others had to
// go for it.
func (sh *memoryShard) add(sp *memorySpace, fp fingerprint, now int64) (t *table, slot, evicted int) {
	if sh.old.buckets > 0 {
		evicted += sh.move(sp, moveBuckets, now)
	}
	if sp.keys.Add(1) > sp.maxKeys {
		evicted += sh.evict(sp, fp, now)
	}
	if sh.old.buckets == 0 && (sh.live.keys+1)*outOf > sh.live.slots()*growAt {
		sh.resize(sp, sh.live.slots()/bucketSlots+1)
	}
	slot, n := sh.place(sp, fp, now)
	return &sh.live, slot, evicted + n
}

// place adds a key to live. Where there is no room, live grows; where it is growing
// already, which no chance that one need think of brings about, a victim goes.
func (sh *memoryShard) place(sp *memorySpace, fp fingerprint, now int64) (slot, evicted int) {
	slot, read := sh.live.add(fp)
	if sh.visited += read; slot >= 0 {
		return slot, 0
	}
	if sh.old.buckets == 0 {
		sh.resize(sp, sh.live.slots()/bucketSlots+1)
	} else {
		var v victim
		v.look(sp, sh, &sh.live, sh.live.bucket(fp.tag), now)
		v.look(sp, sh, &sh.live, sh.live.bucket(fp.rest), now)
		evicted = v.remove(sp, sh)
	}
	slot, n := sh.place(sp, fp, now)
	return slot, evicted + n
}

// resize makes live a table of at least n buckets, to be filled from what it was.
func (sh *memoryShard) resize(sp *memorySpace, n int) {
	if sh.live.keys > 0 {
		sh.old, sh.moved = sh.live, 0
	}
	sh.live, sh.hand = newTable(tableSize(n, sh.number), sp.stride), 0
}

// tableSize returns the least size from n on of the shard's own sequence, each half
// as much again as the one before. Shards differ, so that all of them do not grow
// at one number of keys, and the bytes a key stay even.
func tableSize(n, shard int) int {
	if n <= 2 {
		return n
	}
	size := 4<<9 + shard*4 // in 512ths: 4 to 6 buckets
	for size>>9 < n {
		size += size / 2
	}
	return size >> 9
}

// move carries up to n buckets from old to live.
func (sh *memoryShard) move(sp *memorySpace, n int, now int64) (evicted int) {
	width := bucketSlots * sh.old.stride
	for ; n > 0 && sh.moved < len(sh.old.words); n-- {
		sh.visited += bucketSlots
		for i, tag := range sh.old.tags(sh.moved) {
			if tag == 0 {
				continue
			}
			from := sh.old.words[sh.old.slot(sh.moved, i):][:sh.old.stride-1]
			fp := fingerprint{tag, from[0] &^ metaMask}
			slot, gone := sh.place(sp, fp, now)
			copy(sh.live.words[slot:], from)
			sh.old.remove(sh.moved, i)
			evicted += gone
		}
		sh.moved += width
	}
	if sh.moved >= len(sh.old.words) {
		sh.old, sh.moved = table{}, 0
	}
	return evicted
}

// drop forgets the key in a slot.
func (sh *memoryShard) drop(sp *memorySpace, t *table, slot int) {
	if sp.log {
		sh.logs.release(t.log(slot))
	}
	base, i := t.locate(slot)
	t.remove(base, i)
	sp.keys.Add(-1)
}

// idle reports whether a slot's key has its whole quota under any limit known.
func (sp *memorySpace) idle(t *table, slot int, now int64) bool {
	if sp.log {
		until := t.last(slot) + sp.window
		if sp.strikes {
			until = max(until, sp.penalty.Load().Forgotten(t.ban(slot)))
		}
		return until <= now
	}
	ask := algorithm.Ask{Now: now, Window: sp.window, Quota: sp.slowest.Load()}
	return algorithm.Used(sp.kind, t.load(slot), &ask) == 0
}
