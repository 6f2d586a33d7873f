package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// meeting is a store whose Takes wait for each other.
type meeting struct {
	limittest.Store
	expected int64
	inside   atomic.Int64
	all      chan struct{}
}

func (s *meeting) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if s.inside.Add(1) == s.expected {
		close(s.all)
	}
	select {
	case <-s.all:
		return s.Store.Take(ctx, charges, results)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// No lock is held while the store is at work.
func TestStoreIsCalledInParallel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // far more than it takes
	defer cancel()
	const n = 20
	store := &meeting{expected: 2 * n, all: make(chan struct{})}
	b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(5))}})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			ticket := b.Begin(request(limittest.Request{Context: ctx}))
			ticket.End(200, nil)
		})
		wg.Go(func() {
			b.Allow(ctx, fmt.Sprint(i), 1)
		})
	}
	wg.Wait()
	if got := store.inside.Load(); got != 2*n || ctx.Err() != nil {
		t.Errorf("%d of %d calls were in the store at once", got, 2*n)
	}
}

// However many ask at once, as many are admitted as the limit says, under every
// policy alike.
func TestExactlyTheLimitInParallel(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		small, large := pol("small", ratelimit.PerHour(50).Using(a)), pol("large", ratelimit.PerHour(200).Using(a))
		b := newBench(large, small)
		reversed := b.With(small, large)
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			limits := b.Limiter
			if i%2 == 1 {
				limits = reversed
			}
			wg.Go(func() {
				for range 25 {
					ticket := limits.Begin(get("ann"))
					if ticket.Status() == 0 {
						admitted.Add(1)
					}
					ticket.End(200, nil)
				}
			})
		}
		wg.Wait()
		if left := b.left(t, "ann", small, large); admitted.Load() != 50 || left[0] != 0 || left[1] != 150 {
			t.Errorf("%v: %d admitted, %d left; want 50, 0 and 150", a, admitted.Load(), left)
		}
	}
}

// Many waiters, cancelled or not, leave what the admitted ones charged.
func TestWaitInParallel(t *testing.T) {
	b := newBench(over(pol("api", ratelimit.PerHour(10)), ratelimit.Delay(time.Hour)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var wg sync.WaitGroup
	var charged, refunded atomic.Int64
	for range 20 {
		wg.Go(func() {
			ticket := b.Begin(get("ann"))
			defer ticket.End(0, nil)
			switch err := ticket.Wait(ended); {
			case err == nil && ticket.Status() == 0:
				charged.Add(1)
			case errors.Is(err, context.Canceled):
				refunded.Add(1)
			}
		})
	}
	wg.Wait()
	d, _ := b.Peek(t.Context(), "ann")
	if charged.Load() < 10 || charged.Load()+refunded.Load() != 20 || d.Used > 10 {
		t.Errorf("%d charged, %d refunded, %d used", charged.Load(), refunded.Load(), d.Used)
	}
}
