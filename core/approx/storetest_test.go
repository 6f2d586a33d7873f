package approx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/storetest"
)

// flushing is a store that makes an exchange after each call, so that the copy of a
// single instance must always be what the shared store is.
type flushing struct{ *approx.Store }

func (f flushing) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return errors.Join(f.Store.Take(ctx, charges, results), f.Flush(ctx))
}

func (f flushing) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	return errors.Join(f.Store.Adjust(ctx, adjustments), f.Flush(ctx))
}

// TestStore holds a single instance to the contract of all stores. Left out is the
// sliding counter, whose refunds of the last window are given back at the weight that
// they have; TestAlone holds the rest of it.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Name: "approx",
		Open: func(t testing.TB, now func() time.Time) ratelimit.Store {
			shared := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now})
			s, err := approx.New(shared, approx.Config{Every: time.Millisecond, Timeout: time.Minute, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return flushing{s}
		},
		Lacks: storetest.Lacks{Algorithms: []ratelimit.Algorithm{ratelimit.SlidingLog, ratelimit.SlidingCounter}, Leases: true, Penalties: true},
		Steps: 1500,
	})
}
