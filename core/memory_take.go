package ratelimit

import (
	"context"
	"fmt"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

const usualCharges = 8 // a Take of up to so many does not allocate

// Take implements [Store].
func (m *Memory) Take(ctx context.Context, charges []Charge, results []Result) error {
	if len(charges) != len(results) {
		return fmt.Errorf("%w: %d charges and %d results", ErrMisuse, len(charges), len(results))
	}
	switch n := len(charges); {
	case n == 0:
		return nil
	case n == 1 && charges[0].Mode <= Force:
		return m.takeOne(ctx, charges, &results[0])
	case n <= usualCharges:
		var claims [usualCharges]claim
		return m.take(ctx, charges, results, claims[:n])
	default:
		return m.take(ctx, charges, results, make([]claim, n))
	}
}

// takeOne is take for the usual case, a charge by itself.
func (m *Memory) takeOne(ctx context.Context, charges []Charge, r *Result) error {
	sp, err := m.spaceFor(charges, 0)
	if err != nil {
		return err
	}
	c := &charges[0]
	k := claim{space: sp}
	k.shard, k.fp, _ = m.locate(sp, c.Key)
	now := m.clock.micros()
	var out algorithm.Answer
	k.shard.mu.Lock()
	k.load()
	k.put(now, &c.Limit, c.Cost, c.MaxDelay, c.Mode == Force, &out)
	k.shard.mu.Unlock()
	fillResult(r, &out, now)
	sp.evicted(ctx, k.evicted, now)
	m.step(ctx, now)
	return nil
}

// spaceFor returns the space of a charge that can be decided.
func (m *Memory) spaceFor(charges []Charge, i int) (*memorySpace, error) {
	c := &charges[i]
	sp, err := m.space(c.Space)
	if err == nil {
		err = checkCharge(charges, i)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: policy %q", err, c.Space.Policy)
	}
	return sp, nil
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
		claims[i].space.evicted(ctx, claims[i].evicted, t.now)
	}
	m.step(ctx, t.now)
	return nil
}

// claim finds where the i-th charge's key lives.
func (m *Memory) claim(claims []claim, i int, charges []Charge) error {
	c := &charges[i]
	sp, err := m.spaceFor(charges, i)
	if err != nil {
		return err
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
