package approx

import (
	"context"
	"errors"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// batch is a Take of the shared store.
type batch struct {
	sent    []sent
	charges []ratelimit.Charge
	results []ratelimit.Result
}

// sent is what is on its way for a key.
type sent struct {
	entry *entry
	pending
	early bool // a fixed window that has not begun in the shared store: nothing is sent
}

// of returns a batch of the i-th key alone.
func (b *batch) of(i int) *batch {
	return &batch{b.sent[i : i+1], b.charges[i : i+1], b.results[i : i+1]}
}

// prepare takes what is pending of keys, and makes charges of it.
func (x *exchange) prepare(keys []*entry) *batch {
	n := len(keys)
	b := &batch{make([]sent, n), make([]ratelimit.Charge, n), make([]ratelimit.Result, n)}
	for i, e := range keys {
		sh := x.store.shard(e.key)
		sh.mu.Lock()
		look, err := x.store.look(e.space, e.key, &e.limit)
		if err != nil {
			x.fail(err, nil)
		}
		if e.seen.at == 0 {
			e.seen = guess(&e.limit, &look, e.units)
		}
		b.sent[i] = sent{entry: e, pending: e.due(&e.limit, &look, x.store.every.Microseconds())}
		b.charges[i] = ratelimit.Charge{Space: e.space, Key: e.key, Limit: e.limit, Cost: max(0, b.sent[i].units), Mode: ratelimit.Force}
		e.pending, e.dirty = pending{}, false
		sh.mu.Unlock()
	}
	return b
}

// send makes the Take of a batch and settles its keys. A batch that is refused, since
// one charge of it is wrong or its keys do not share a slot of a cluster, is sent key by
// key.
func (x *exchange) send(ctx context.Context, b *batch) {
	err := x.look(ctx, b)
	looked := err == nil
	if looked {
		err = x.store.ask(ctx, b.charges, b.results)
	}
	if len(b.sent) > 1 && errors.Is(err, ratelimit.ErrMisuse) {
		parallel(len(b.sent), singlesAtOnce, func(i int) { x.send(ctx, b.of(i)) })
		return
	}
	x.fail(err, nil)
	for i := range b.sent {
		p := &b.sent[i]
		if cost := b.charges[i].Cost; looked && err != nil && cost > 0 {
			p.doubt, p.look = cost, true
		}
		if err := x.settle(p, &b.results[i], err); err != nil {
			x.fail(err, nil)
		}
	}
}

// look asks the shared store about keys with units in doubt, or to be given back, and
// decides by the answers what to send.
func (x *exchange) look(ctx context.Context, b *batch) error {
	var looks []ratelimit.Charge
	var from []int // of the batch
	for i := range b.sent {
		if p := &b.sent[i]; !p.early && (p.look || p.units < 0) {
			look := b.charges[i]
			look.Cost = 0
			looks, from = append(looks, look), append(from, i)
		}
	}
	if looks == nil {
		return nil
	}
	results := make([]ratelimit.Result, len(looks))
	if err := x.store.ask(ctx, looks, results); err != nil {
		return err
	}
	var refunds []ratelimit.Adjustment
	for j, i := range from {
		p, r := &b.sent[i], &results[j]
		if seen := &p.entry.seen; seen.local {
			copys, err := x.store.look(looks[j].Space, looks[j].Key, &looks[j].Limit)
			if err != nil {
				return err
			}
			*seen = seen.shared(&copys, r)
		}
		p.resolve(&looks[j].Limit, r)
		b.charges[i].Cost = max(0, p.units)
		switch {
		case p.early:
			b.charges[i].Cost = 0
		case p.units < 0:
			refunds = append(refunds, ratelimit.Adjustment{
				Op: ratelimit.Refund, Space: looks[j].Space, Key: looks[j].Key, Limit: looks[j].Limit, Units: -p.units,
				Receipt: ratelimit.Receipt{At: p.back, Units: -p.units, End: queueEnd(r)},
			})
			p.entry.seen = p.entry.seen.less(&looks[j].Limit, -p.units)
			p.pending = pending{}
		}
	}
	if refunds != nil {
		// One that fails is lost: made twice it would admit too much.
		x.fail(nil, x.store.correct(ctx, refunds))
	}
	return nil
}

// resolve decides what to send of a key, given the shared store's answer to a look.
func (p *sent) resolve(l *ratelimit.Limit, r *ratelimit.Result) {
	switch at := r.Receipt.At; {
	case l.Algorithm != ratelimit.FixedWindow:
	case window(l, at) < window(l, p.since):
		p.early = true
		return
	case window(l, at) > window(l, p.since):
		p.pending = pending{} // it is over there
	}
	p.units += p.entry.seen.missing(l, p.doubt, r) - p.doubt
	p.doubt, p.look = 0, false
	p.entry.seen = seenBy(l, r)
}

// settle sets the copy of a key to the answer, or makes what was not sent pending
// again. What was refused by itself is nothing to try again. What was charged in a fixed
// window that has not begun in the shared store, where it went into the one before, is
// sent once it has.
func (x *exchange) settle(p *sent, r *ratelimit.Result, err error) error {
	e := p.entry
	sh := x.store.shard(e.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if errors.Is(err, ratelimit.ErrMisuse) {
		return nil
	}
	if err == nil {
		if p.doubt == 0 {
			e.seen = seenBy(&e.limit, r)
		}
		if !p.early && (e.limit.Algorithm != ratelimit.FixedWindow || window(&e.limit, r.Receipt.At) >= window(&e.limit, p.since)) {
			return x.store.follow(e, r)
		}
		p.look = true
	}
	e.add(&e.limit, p.pending)
	sh.mark(e)
	return nil
}

// window numbers the window of an instant.
func window(l *ratelimit.Limit, at int64) int64 { return at / l.Window.Microseconds() }
