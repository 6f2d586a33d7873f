package approx_test

import (
	"context"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
)

const everyone = "everyone"

// algorithms are those that a copy can be made of.
var algorithms = []ratelimit.Algorithm{
	ratelimit.TokenBucket, ratelimit.GCRA, ratelimit.LeakyBucket, ratelimit.FixedWindow, ratelimit.SlidingCounter,
}

// instance is one of several that share a limit.
type instance struct {
	testing.TB
	*approx.Store
	space *ratelimit.Space
	limit ratelimit.Limit
}

func newInstance(t testing.TB, shared ratelimit.Store, limit ratelimit.Limit, config approx.Config) *instance {
	t.Helper()
	s, err := approx.New(shared, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	i := &instance{TB: t, Store: s, space: ratelimit.NewSpace("api", limit), limit: limit}
	if err := s.Open(i.space); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *instance) charge(key string, cost int64) ratelimit.Charge {
	return ratelimit.Charge{Space: i.space, Key: []byte(key), Limit: i.limit, Cost: cost}
}

// take asks for a cost.
func (i *instance) take(key string, cost int64) ratelimit.Result {
	i.Helper()
	r := make([]ratelimit.Result, 1)
	if err := i.Take(context.Background(), []ratelimit.Charge{i.charge(key, cost)}, r); err != nil {
		i.Fatal(err)
	}
	return r[0]
}

// used asserts what the copy has in use.
func (i *instance) used(key string, want int64) {
	i.Helper()
	if got := i.take(key, 0).Used; got != want {
		i.Errorf("the copy of %q: want %d in use, got %d", key, want, got)
	}
}

func (i *instance) flush() {
	i.Helper()
	if err := i.Flush(context.Background()); err != nil {
		i.Fatal(err)
	}
}

func (i *instance) adjust(op ratelimit.Op, key string, units int64, receipt ratelimit.Receipt) ratelimit.Receipt {
	i.Helper()
	a := []ratelimit.Adjustment{{Op: op, Space: i.space, Key: []byte(key), Limit: i.limit, Units: units, Receipt: receipt}}
	if err := i.Adjust(context.Background(), a); err != nil {
		i.Fatal(err)
	}
	return a[0].Receipt
}

// look asks a store what a key has in use.
func look(t testing.TB, s ratelimit.Store, space *ratelimit.Space, key string) int64 {
	t.Helper()
	r := make([]ratelimit.Result, 1)
	charge := []ratelimit.Charge{{Space: space, Key: []byte(key), Limit: space.Limits[0]}}
	if err := s.Take(context.Background(), charge, r); err != nil {
		t.Fatal(err)
	}
	return r[0].Used
}

// link is the way to a shared store, which may be long, broken or narrow. What changes
// while a goroutine makes exchanges is changed by set.
type link struct {
	ratelimit.Store
	mu sync.Mutex
	way

	calls   int   // of Take
	adjusts int   // of Adjust
	charges int   // in the largest Take
	charged int64 // units that the shared store charged, whatever the caller knows of it
}

type way struct {
	oneWay    time.Duration // how long a call travels there, and back
	down      error
	lost      error // of the reply: what was asked is done
	looksPass bool  // through all that
	narrow    error // of a Take of several charges
	onSend    func()
	onReceive func()
}

func (l *link) set(f func(l *link)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

func (l *link) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	var w way
	l.set(func(l *link) {
		l.calls++
		l.charges = max(l.charges, len(charges))
		w = l.way
	})
	if w.narrow != nil && len(charges) > 1 {
		return w.narrow
	}
	var units int64
	for i := range charges {
		units += charges[i].Cost
	}
	if units == 0 && w.looksPass {
		w.down, w.lost = nil, nil
	}
	return w.travel(ctx, func() error {
		err := l.Store.Take(ctx, charges, results)
		if err == nil {
			l.set(func(l *link) { l.charged += units })
		}
		return err
	})
}

func (l *link) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	var w way
	l.set(func(l *link) {
		l.adjusts++
		w = l.way
	})
	return w.travel(ctx, func() error { return l.Store.Adjust(ctx, adjustments) })
}

func (w *way) travel(ctx context.Context, do func() error) error {
	if w.onSend != nil {
		w.onSend()
	}
	sleep(ctx, w.oneWay)
	if w.down != nil {
		return w.down
	}
	if err := do(); err != nil {
		return err
	}
	sleep(ctx, w.oneWay)
	if w.onReceive != nil {
		w.onReceive()
	}
	return w.lost
}

func sleep(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
