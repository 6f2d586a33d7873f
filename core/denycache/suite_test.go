package denycache_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/storetest"
)

// completed is a cache whose hits are compared with what the store itself says, and
// completed from that: the suite knows neither charges that were not asked nor counts
// from before.
type completed struct {
	*denycache.Store

	store ratelimit.Store
	hits  *atomic.Int64
}

type askedKey struct{}

// asking tells the context's flag that it was asked.
type asking struct{ ratelimit.Store }

func (a asking) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	*ctx.Value(askedKey{}).(*bool) = true
	return a.Store.Take(ctx, charges, results)
}

func (c completed) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	asked := false
	err := c.Store.Take(context.WithValue(ctx, askedKey{}, &asked), charges, results)
	if err != nil || asked || len(charges) == 0 {
		return err
	}
	c.hits.Add(1)
	told := make([]ratelimit.Result, len(results))
	copy(told, results)
	if err := c.store.Take(ctx, charges, results); err != nil {
		return err
	}
	for i, want := range results {
		got := told[i]
		if got == (ratelimit.Result{Allowed: true}) {
			continue
		}
		if got.Allowed || want.Allowed || got.RetryAfter != want.RetryAfter || got.ResetAfter != want.ResetAfter {
			return fmt.Errorf("cached, got %+v\nwant        %+v", got, want)
		}
	}
	return nil
}

func TestSuite(t *testing.T) {
	for _, age := range []time.Duration{us, time.Hour} {
		t.Run(age.String(), func(t *testing.T) {
			var hits atomic.Int64
			storetest.Run(t, storetest.Harness{
				Name: "denycache",
				Open: func(t testing.TB, now func() time.Time) ratelimit.Store {
					store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now})
					cache, err := denycache.New(asking{store}, denycache.Config{MaxAge: age, Now: now})
					if err != nil {
						t.Fatal(err)
					}
					return completed{cache, store, &hits}
				},
				Steps: 1280,
			})
			t.Logf("%d Takes were answered by the cache", hits.Load())
			if hits.Load() < 1000 {
				t.Error("too few to show anything")
			}
		})
	}
}
