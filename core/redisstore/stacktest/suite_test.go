package stacktest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/core/storetest"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// The contract of stores holds through all layers: what the cache denies by itself, the
// server would have denied, until the same instants.
func TestSuiteThroughStack(t *testing.T) {
	if testing.Short() {
		t.Skip("it lasts for seconds")
	}
	server := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { server.Close() })
	made, hits := 0, new(atomic.Int64)
	storetest.Run(t, storetest.Harness{
		Name: "redis behind a breaker and a cache", MaxLogQuota: 10_000, Steps: 100,
		// The layers know nothing of algorithms: these three stand for all.
		Lacks: storetest.Lacks{Algorithms: []ratelimit.Algorithm{ratelimit.GCRA, ratelimit.FixedWindow, ratelimit.SlidingCounter}},
		Open: func(t testing.TB, now func() time.Time) ratelimit.Store {
			made++
			store, err := redisstore.New(server, redisstore.Config{Prefix: fmt.Sprintf("rl%d:", made), Now: now, Timeout: enough})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			fuse, err := breaker.New(store, breaker.Config{Timeout: enough})
			if err != nil {
				t.Fatal(err)
			}
			cache, err := denycache.New(asked{fuse}, denycache.Config{MaxAge: time.Hour, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			return completed{cache, fuse, hits}
		},
	})
	if hits.Load() < 100 {
		t.Errorf("only %d Takes were answered by the cache", hits.Load())
	}
}

// asked is the store behind a cache. It tells its caller, through the context, that it
// was asked.
type asked struct{ ratelimit.Store }

type askedKey struct{}

func (a asked) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	*ctx.Value(askedKey{}).(*bool) = true
	return a.Store.Take(ctx, charges, results)
}

// completed is a cache whose own answers are compared with what the store behind it
// says, and completed from that: the suite knows neither charges that were not asked nor
// counts from before.
type completed struct {
	*denycache.Store

	behind ratelimit.Store
	hits   *atomic.Int64
}

func (c completed) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	reached := false
	err := c.Store.Take(context.WithValue(ctx, askedKey{}, &reached), charges, results)
	if err != nil || reached || len(charges) == 0 {
		return err
	}
	c.hits.Add(1)
	told := append([]ratelimit.Result(nil), results...)
	if err := c.behind.Take(ctx, charges, results); err != nil {
		return err
	}
	for i, want := range results {
		got := told[i]
		if got == (ratelimit.Result{Allowed: true}) {
			continue // not asked
		}
		if got.Allowed || want.Allowed || got.RetryAfter != want.RetryAfter || got.ResetAfter != want.ResetAfter {
			return fmt.Errorf("the cache told %+v\nthe store  %+v", got, want)
		}
	}
	return nil
}
