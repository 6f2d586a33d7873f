package approx

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	batchKeys     = 128 // keys a Take of the shared store
	batchesAtOnce = 8
	singlesAtOnce = 16 // for each batch that was refused
)

// exchange sends what is pending, and sets the copy to the answers.
func (s *Store) exchange(ctx context.Context) failure {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.begin(ctx); err != nil {
		return failure{take: err}
	}
	defer s.end()
	var keys []*entry
	for i := range s.shards {
		var forgotten int
		keys, forgotten = s.shards[i].collect(keys)
		s.tracked.Add(-int64(forgotten))
	}
	if keys == nil {
		return failure{}
	}
	x := exchange{store: s}
	parallel((len(keys)+batchKeys-1)/batchKeys, batchesAtOnce, func(i int) {
		x.send(ctx, x.prepare(keys[i*batchKeys:min((i+1)*batchKeys, len(keys))]))
	})
	s.exchanges.Add(1)
	if x.failed != (failure{}) {
		s.failures.Add(1)
	}
	return x.failed
}

// begin waits for the turn: an exchange and a Reset, or two of them, do not overlap.
func (s *Store) begin(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ratelimit: waiting for an exchange to end: %w", ctx.Err())
	}
}

func (s *Store) end() { <-s.turn }

// failure is what went wrong first, of each kind.
type failure struct {
	take   error // something will be sent again
	adjust error // a refund was lost
}

// exchange is one under way.
type exchange struct {
	store  *Store
	mu     sync.Mutex
	failed failure
}

func (x *exchange) fail(take, adjust error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed.take == nil {
		x.failed.take = take
	}
	if x.failed.adjust == nil {
		x.failed.adjust = adjust
	}
}

// sent is what is on its way for a key.
type sent struct {
	entry *entry
	pending
	at int64 // µs: the copy's instant when it left
}

// batch is a Take of the shared store.
type batch struct {
	sent    []sent
	charges []ratelimit.Charge
	results []ratelimit.Result
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
		p := sent{entry: e, pending: e.pending}
		look, err := x.store.look(e.space, e.key, &e.limit)
		if err != nil {
			x.fail(err, nil)
		}
		p.at = look.Receipt.At
		p.units = p.due(&e.limit, &look, x.store.every.Microseconds())
		e.pending, e.dirty = pending{}, false
		b.sent[i] = p
		b.charges[i] = ratelimit.Charge{Space: e.space, Key: e.key, Limit: e.limit, Cost: max(0, p.units), Mode: ratelimit.Force}
		sh.mu.Unlock()
	}
	return b
}

// send makes the Take of a batch and settles its keys. A batch that is refused, since
// one charge of it is wrong or its keys do not share a slot of a cluster, is sent key by
// key.
func (x *exchange) send(ctx context.Context, b *batch) {
	err := x.giveBack(ctx, b)
	if err == nil {
		err = x.store.shared.Take(ctx, b.charges, b.results)
	}
	if len(b.sent) > 1 && errors.Is(err, ratelimit.ErrMisuse) {
		parallel(len(b.sent), singlesAtOnce, func(i int) { x.send(ctx, b.of(i)) })
		return
	}
	x.fail(err, nil)
	for i := range b.sent {
		if err := x.settle(&b.sent[i], &b.results[i], err); err != nil {
			x.fail(err, nil)
		}
	}
}

// giveBack refunds what was given back of charges that had been sent. A refund that
// fails is lost: one that was made twice would admit too much.
func (x *exchange) giveBack(ctx context.Context, b *batch) error {
	var looks []ratelimit.Charge
	var from []*sent
	for i := range b.sent {
		if b.sent[i].units < 0 {
			looks, from = append(looks, b.charges[i]), append(from, &b.sent[i])
		}
	}
	if from == nil {
		return nil
	}
	results := make([]ratelimit.Result, len(looks))
	if err := x.store.shared.Take(ctx, looks, results); err != nil {
		return err
	}
	refunds := make([]ratelimit.Adjustment, len(looks))
	for i, p := range from {
		refunds[i] = ratelimit.Adjustment{
			Op: ratelimit.Refund, Space: looks[i].Space, Key: looks[i].Key, Limit: looks[i].Limit, Units: -p.units,
			Receipt: ratelimit.Receipt{At: p.back, Units: -p.units, End: queueEnd(&results[i])},
		}
		p.pending = pending{}
	}
	if err := x.store.shared.Adjust(ctx, refunds); err != nil {
		x.fail(nil, err)
	}
	return nil
}

// settle sets the copy of a key to the answer, or makes what was not sent pending
// again. What was refused by itself is nothing to try again.
func (x *exchange) settle(p *sent, r *ratelimit.Result, err error) error {
	e := p.entry
	sh := x.store.shard(e.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	switch {
	case err == nil:
		return x.store.follow(e, p.at, r.Used)
	case errors.Is(err, ratelimit.ErrMisuse):
		return nil
	default:
		e.add(&e.limit, p.units, p.since)
		e.back = max(e.back, p.back)
		sh.mark(e)
		return nil
	}
}

// parallel calls f with 0 to n − 1, so many at once at most, and waits for all.
func parallel(n, atOnce int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, atOnce) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
