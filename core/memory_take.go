package ratelimit

import (
	"context"
	"fmt"
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

const usualCharges = 8 // a Take of up to so many does not allocate

// Take implements [Store].
func (m *Memory) Take(ctx context.Context, charges []Charge, results []Result) error {
	if len(charges) != len(results) {
		return fmt.Errorf("ratelimit: %d charges and %d results", len(charges), len(results))
	}
	switch n := len(charges); {
	case n == 0:
		return nil
	case n == 1:
		var claims [1]claim
		return m.take(ctx, charges, results, claims[:])
	case n <= usualCharges:
		var claims [usualCharges]claim
		return m.take(ctx, charges, results, claims[:n])
	default:
		return m.take(ctx, charges, results, make([]claim, n))
	}
}

func (m *Memory) take(ctx context.Context, charges []Charge, results []Result, claims []claim) error {
	for i := range charges {
		if err := m.claim(claims, i, charges); err != nil {
			return err
		}
	}
	t := memoryTake{now: m.clock.micros(), charges: charges, results: results, claims: claims}
	t.lock()
	t.decide()
	t.commit()
	t.unlock()
	for i := range claims {
		claims[i].space.evicted(ctx, charges[i].Space, claims[i].evicted)
	}
	m.step(t.now)
	return nil
}

// claim finds where the i-th charge's key lives.
func (m *Memory) claim(claims []claim, i int, charges []Charge) error {
	c := &charges[i]
	sp := m.space(c.Space)
	if sp == nil {
		return fmt.Errorf("ratelimit: the space of %q was never opened", c.Space.Policy)
	}
	if strikes := sp.penalty != nil; strikes != (c.Mode == Strike) {
		return fmt.Errorf("ratelimit: a Strike, and nothing else, goes to a penalty space: %q", c.Space.Policy)
	}
	if c.Mode == Spill && (i == 0 || charges[i-1].Mode != Enforce) {
		return fmt.Errorf("ratelimit: a Spill follows the Enforce charge that it belongs to: %q", c.Space.Policy)
	}
	k := &claims[i]
	k.space, k.root = sp, i
	k.shard, k.fp, k.order = m.locate(sp, c.Key)
	for j := range i {
		if claims[j].space == sp && claims[j].fp == k.fp {
			k.root = claims[j].root
			break
		}
	}
	return nil
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

// memoryTake is a Take under its locks.
type memoryTake struct {
	now     int64
	charges []Charge
	results []Result
	claims  []claim
}

// lock takes the lock of every shard once, lowest first: all calls agree on the
// order, so none waits for another in a circle.
func (t *memoryTake) lock() {
	for prev := uint64(0); ; {
		var next *claim
		for i := range t.claims {
			if c := &t.claims[i]; c.order >= prev && (next == nil || c.order < next.order) {
				next = c
			}
		}
		if next == nil {
			return
		}
		next.shard.mu.Lock()
		prev = next.order + 1
	}
}

func (t *memoryTake) unlock() {
	for i := range t.claims {
		first := true
		for j := range i {
			first = first && t.claims[j].shard != t.claims[i].shard
		}
		if first {
			t.claims[i].shard.mu.Unlock()
		}
	}
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
		if c.space.penalty != nil {
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

// commit writes what the Take put on its keys.
func (t *memoryTake) commit() {
	for i := range t.claims {
		c := &t.claims[i]
		if !c.write {
			continue
		}
		if len(t.claims) > 1 { // another key's slot may have moved this one's, or evicted it
			if c.table, c.slot = c.shard.find(c.fp); c.slot < 0 {
				c.ref, c.gone = logRef{class: noBlock}, 0
			}
		}
		c.save(t.now)
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
	if c.space.penalty != nil {
		c.ref.last = c.at
		c.table.saveBan(c.slot, c.ban)
	}
	c.table.saveLog(c.slot, c.ref)
	c.table.setClass(c.slot, c.class)
}
