package ratelimit

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// Adjust implements [Store].
func (m *Memory) Adjust(ctx context.Context, adjustments []Adjustment) error {
	var errs []error
	now := m.clock.micros()
	for i := range adjustments {
		adj := &adjustments[i]
		sp, err := m.space(adj.Space)
		if err != nil {
			err = fmt.Errorf("%w: policy %q", err, adj.Space.Policy)
		} else {
			err = CheckAdjustment(adj)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c := claim{space: sp}
		c.shard, c.fp, _ = m.locate(sp, adj.Key)
		c.shard.mu.Lock()
		c.load()
		c.adjust(adj, now)
		c.shard.mu.Unlock()
		sp.evicted(ctx, c.evicted, now)
	}
	if len(adjustments) > 0 {
		m.step(ctx, now)
	}
	return errors.Join(errs...)
}

func (c *claim) adjust(adj *Adjustment, now int64) {
	switch adj.Op {
	case Refund:
		c.refund(adj, now)
	case Extra:
		c.extra(adj, adj.Units, now)
	case Renew:
		c.renew(adj, now)
	case Reset:
		if c.slot >= 0 {
			c.shard.drop(c.space, c.table, c.slot)
		}
	}
}

// extra charges units now, wherever that leads.
func (c *claim) extra(adj *Adjustment, units, now int64) {
	var out algorithm.Answer
	c.put(now, &adj.Limit, units, 0, true, &out)
	adj.Receipt = Receipt{At: out.At, Units: out.Units, End: out.End}
}

func (c *claim) refund(adj *Adjustment, now int64) {
	defer func() { adj.Receipt.Units = max(0, adj.Receipt.Units-adj.Units) }()
	switch {
	case c.slot < 0 || adj.Units <= 0:
	case c.space.log:
		if !algorithm.Stale(c.ref.last, now, c.space.window) {
			c.takeOut(adj.Receipt.At, adj.Units)
		}
	default:
		a := algorithm.Ask{
			Now: now, Window: c.space.window, Quota: adj.Limit.Quota, Capacity: adj.Limit.Capacity(), Cost: adj.Units,
		}
		next, changed, end := algorithm.Refund(c.space.kind, c.state, &a, adj.Receipt.At, adj.Receipt.End)
		if changed {
			c.table.save(c.slot, next, c.table.class(c.slot))
			adj.Receipt.End = end
		}
	}
}

// takeOut removes units from the entry of a log made at an instant.
func (c *claim) takeOut(at, units int64) {
	if c.shard.logs.take(&c.ref, at, units) == 0 {
		return
	}
	if c.log = c.shard.logs.view(c.ref); c.log.Len > 0 {
		c.table.saveLog(c.slot, c.ref)
		return
	}
	c.shard.logs.release(c.ref)
	c.ref = logRef{class: noBlock}
	c.log = algorithm.Log{}
	c.table.saveLog(c.slot, c.ref)
	c.shard.drop(c.space, c.table, c.slot)
	c.slot = -1
}

// renew makes a lease count from now on. One that lapsed counts again: its holder is
// still at work.
func (c *claim) renew(adj *Adjustment, now int64) {
	units := adj.Receipt.Units
	if units <= 0 {
		return
	}
	at := max(now, c.ref.last)
	if algorithm.Stale(c.ref.last, now, c.space.window) {
		at = now
	} else if c.slot >= 0 {
		c.takeOut(adj.Receipt.At, units)
	}
	c.extra(adj, units, at)
}
