package ratelimit

import (
	"hash/maphash"
	"time"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// claim is one charge of a Take, and what the Take knows of its key. Charges of one
// key share the claim of the first, its root.
type claim struct {
	space *memorySpace
	shard *memoryShard
	fp    fingerprint
	order uint64 // of locks
	root  int

	// Of a root only:
	table *table
	slot  int // -1: not there
	state algorithm.State
	next  algorithm.State
	ref   logRef
	log   algorithm.Log
	ban   algorithm.Ban
	gone  int   // oldest entries of the log that no longer count
	ahead int64 // units put on the key so far
	at    int64 // the instant that they count at
	class int
	write bool

	evicted int // keys that had to go for it
}

// locate returns a key's shard and fingerprint, and the shard's place in the order
// of locks.
func (m *Memory) locate(sp *memorySpace, key []byte) (*memoryShard, fingerprint, uint64) {
	tag, rest := maphash.Bytes(m.seedA, key), maphash.Bytes(m.seedB, key)
	if tag == 0 {
		tag = 1
	}
	number := rest & uint64(len(sp.shards)-1)
	return &sp.shards[number], fingerprint{tag, rest &^ metaMask}, sp.id | number
}

// load reads what is remembered of a root's key.
func (c *claim) load() {
	c.table, c.slot = c.shard.find(c.fp)
	switch {
	case c.slot < 0:
		c.ref = logRef{class: noBlock}
	case c.space.log:
		c.ref = c.table.log(c.slot)
		c.log = c.shard.logs.view(c.ref)
		if c.space.strikes {
			c.ban = c.table.ban(c.slot)
		}
	default:
		c.state = c.table.load(c.slot)
	}
}

// ask puts a question to the algorithm about a root's key, on top of ahead units.
func (c *claim) ask(now int64, l *Limit, cost, ahead int64, maxDelay time.Duration, force bool, out *algorithm.Answer) {
	a := algorithm.Ask{
		Now: now, Quota: l.Quota, Window: c.space.window, Capacity: l.Capacity(),
		Cost: cost, Ahead: ahead, Force: force,
	}
	if maxDelay > 0 {
		a.MaxDelay = maxDelay.Microseconds()
	}
	if c.space.log {
		c.gone = algorithm.SlidingLog(&c.log, &a, out)
		return
	}
	next := algorithm.Take(c.space.kind, c.state, &a, out)
	if out.Units > 0 {
		c.next = next
	}
}

// save writes what was put on a root's key.
func (c *claim) save(now int64) {
	if c.slot < 0 {
		c.table, c.slot, c.evicted = c.shard.add(c.space, c.fp, now)
	}
	if !c.space.log {
		c.table.save(c.slot, c.next, c.class)
		return
	}
	c.shard.logs.trim(&c.ref, c.gone)
	if c.ahead > 0 {
		c.shard.logs.add(&c.ref, c.at, c.ahead)
	}
	if c.space.strikes {
		c.ref.last = c.at
		c.table.saveBan(c.slot, c.ban)
	}
	c.table.saveLog(c.slot, c.ref)
	c.table.setClass(c.slot, c.class)
}

// put asks about a cost, and charges what the answer says.
func (c *claim) put(now int64, l *Limit, cost int64, maxDelay time.Duration, force bool, out *algorithm.Answer) {
	c.ask(now, l, cost, 0, maxDelay, force, out)
	if out.Units > 0 {
		c.at, c.ahead, c.class = out.At, out.Units, c.space.classOf(l, out.Used)
		c.save(now)
	}
}
