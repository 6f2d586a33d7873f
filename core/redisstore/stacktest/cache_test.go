package stacktest_test

import (
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// hand is a clock that a test moves.
type hand struct{ micros atomic.Int64 }

func newHand() *hand {
	h := new(hand)
	h.micros.Store(1_767_225_600_000_000)
	return h
}

func (h *hand) now() time.Time        { return time.UnixMicro(h.micros.Load()) }
func (h *hand) move(by time.Duration) { h.micros.Add(by.Microseconds()) }

// A limit that is raised, or lowered again, is in force with the next request, whatever
// the cache remembers.
func TestRaisedLimitCountsAtOnce(t *testing.T) {
	i := newInstance(t, redistest.Start(t).URL(), layers{timeout: enough})
	var quota atomic.Int64
	app := app(i.limiter(t, ratelimit.Policy{
		Name: "p", Limit: ratelimit.Per(1, ages), Most: ratelimit.Per(5, ages),
		Vary: func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit { l.Quota = quota.Load(); return l },
	}))
	for n, step := range []struct {
		quota  int64
		status int
	}{{1, 200}, {1, 429}, {1, 429}, {2, 200}, {2, 429}, {2, 429}, {3, 200}, {1, 429}, {3, 429}, {1, 429}, {4, 200}, {5, 200}, {5, 429}} {
		quota.Store(step.quota)
		if got := get(app).Code; got != step.status {
			t.Errorf("request %d, of a quota of %d: %d, want %d", n, step.quota, got, step.status)
		}
	}
	if hits := i.cache.Stats().Hits; hits != 2 {
		t.Errorf("%d denials were the cache's, want 2", hits)
	}
}

// What a limiter resets, it admits with the next request. Other instances do once what
// they remember is of age.
func TestResetCounts(t *testing.T) {
	server, clock := redistest.Start(t), newHand()
	const age = time.Second
	policy := ratelimit.Policy{Name: "p", Limit: ratelimit.Per(1, ages)}
	here := newInstance(t, server.URL(), layers{timeout: enough, now: clock.now, maxAge: age})
	there := newInstance(t, server.URL(), layers{timeout: enough, now: clock.now, maxAge: age})
	limits := here.limiter(t, policy)
	own, other := app(limits), app(there.limiter(t, policy))
	answers := func(what string, app http.Handler, want int) {
		t.Helper()
		if got := get(app).Code; got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	reset := func() {
		t.Helper()
		if err := limits.Reset(t.Context(), client); err != nil {
			t.Error(err)
		}
	}

	answers("the first", own, 200)
	answers("the second", own, 429)
	answers("the second, remembered", own, 429)
	reset()
	answers("after its own reset", own, 200)
	answers("after that", own, 429)

	answers("elsewhere", other, 429)
	reset()
	clock.move(age - time.Microsecond)
	answers("elsewhere, before the age", other, 429)
	clock.move(time.Microsecond)
	answers("elsewhere, at the age", other, 200)
	if a, b := here.cache.Stats().Hits, there.cache.Stats().Hits; a != 1 || b != 1 {
		t.Errorf("%d and %d denials were the caches', want one each", a, b)
	}
}

// With a cache and a breaker around it, a store admits the same requests, to the
// microsecond, and tells the same waits.
func TestCacheAgreesWithStore(t *testing.T) {
	clock := newHand()
	i := newInstance(t, redistest.Start(t).URL(), layers{timeout: enough, now: clock.now, maxAge: time.Hour})
	bare := stack{store: i.redis, tally: i.tally}
	random := rand.New(rand.NewPCG(1, 2))
	for _, algorithm := range algorithms {
		limit := ratelimit.Per(5, 10*time.Second).Using(algorithm)
		l := i.limiter(t, ratelimit.Policy{Name: "cached", Limit: limit})
		twin := bare.limiter(t, ratelimit.Policy{Name: "bare", Limit: limit})
		hits := i.cache.Stats().Hits
		for step := range 100 {
			cost := 1 + random.Int64N(3)
			got, want := allow(t, l, "key", cost), allow(t, twin, "key", cost)
			if got.Outcome != want.Outcome || got.RetryAfter != want.RetryAfter || got.ResetAfter != want.ResetAfter {
				t.Fatalf("%v, step %d:\ncached %+v\nbare   %+v", algorithm, step, got, want)
			}
			switch wait := max(want.RetryAfter, want.NextAfter); random.IntN(4) {
			case 0:
				clock.move(wait)
			case 1:
				clock.move(max(0, wait-time.Microsecond))
			case 2:
				clock.move(time.Duration(random.Int64N(int64(wait) + 1)).Truncate(time.Microsecond))
			}
		}
		if hits = i.cache.Stats().Hits - hits; hits < 10 {
			t.Errorf("%v: only %d denials were the cache's", algorithm, hits)
		}
	}
}

// Who waits as long as the cache tells is admitted, by the server's own clock.
func TestCachedWaitIsEnough(t *testing.T) {
	i := newInstance(t, redistest.Start(t).URL(), layers{timeout: enough})
	l := i.limiter(t, ratelimit.Policy{Name: "p", Limit: ratelimit.PerSecond(50).WithBurst(1)})
	allow(t, l, "key", 1)
	for n, cached := 0, int64(0); cached < 10; n++ {
		hits := i.cache.Stats().Hits
		allow(t, l, "key", 1)
		d := allow(t, l, "key", 1) // the cache's answer, unless time was up
		if d.Outcome == ratelimit.Denied {
			cached += i.cache.Stats().Hits - hits
			time.Sleep(d.RetryAfter)
			if d = allow(t, l, "key", 1); d.Outcome != ratelimit.Allowed {
				t.Fatalf("round %d: denied after its wait, for %v more", n, d.RetryAfter)
			}
		}
		if n == 1000 {
			t.Fatal("the cache hardly answered")
		}
	}
}
