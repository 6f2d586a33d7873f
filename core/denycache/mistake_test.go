package denycache_test

import (
	"context"
	"errors"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// failing fails when told to, after it did what it was asked.
type failing struct {
	ratelimit.Store

	err error
}

func (f *failing) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return errors.Join(f.Store.Take(ctx, charges, results), f.err)
}

func (f *failing) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	return errors.Join(f.Store.Adjust(ctx, adjustments), f.err)
}

func TestErrors(t *testing.T) {
	l := newLab(t, long)
	lost := &failing{l.memory, nil}
	l.asked.Store = lost
	api := l.space("api", ratelimit.PerMinute(10))
	down := errors.New("the reply was lost")
	fails := func(c ratelimit.Charge) {
		lost.err = down
		if err := l.cache.Take(context.Background(), charges{c}, make([]ratelimit.Result, 1)); !errors.Is(err, down) {
			t.Errorf("error %v", err)
		}
		lost.err = nil
	}
	l.play([]step{
		{0, nil, charges{on(api, 8)}, true, "ok"},
		{0, func() { fails(on(api, 3)) }, charges{on(api, 3)}, true, "6s"},
		{0, func() { lost.err = down }, charges{on(api, 3)}, false, "6s"},
		{0, func() { fails(on(api, 1)) }, charges{on(api, 3)}, true, "12s"}, // it was charged
		{0, func() { lost.err = down }, charges{on(api, 3)}, false, "12s"},
	})
	reset := []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: api, Key: []byte("ann")}}
	if err := l.cache.Adjust(context.Background(), reset); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	lost.err = nil
	l.play([]step{{0, nil, charges{on(api, 3)}, true, "ok"}})
}

// What no store can do is an error, whatever is remembered.
func TestMisuse(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(1))
	l.take(on(api, 1))
	l.take(on(api, 1))
	for name, c := range map[string]charges{
		"a negative cost":  {on(api, 1), key(on(api, -1), "bob")},
		"an invalid limit": {on(api, 1), under(key(on(api, 1), "bob"), ratelimit.Limit{})},
		"a Spill alone":    {mode(on(api, 1), ratelimit.Spill)},
	} {
		if err := l.cache.Take(context.Background(), c, make([]ratelimit.Result, len(c))); !errors.Is(err, ratelimit.ErrMisuse) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := l.cache.Take(context.Background(), charges{on(api, 1)}, nil); !errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("no results: error %v", err)
	}
	if err := l.cache.Take(context.Background(), nil, nil); err != nil {
		t.Errorf("no charges: error %v", err)
	}
}
