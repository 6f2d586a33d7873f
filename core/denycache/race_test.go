package denycache_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

// gate is a store whose next call is held up, before or after it is carried out. The
// call says so on held, and goes on when it receives from goOn.
type gate struct {
	ratelimit.Store

	mu            sync.Mutex
	before, after bool
	held, goOn    chan struct{}
}

func newGate(s ratelimit.Store) *gate {
	return &gate{Store: s, held: make(chan struct{}), goOn: make(chan struct{})}
}

// shut makes the next call stop, before or after it is carried out.
func (g *gate) shut(after bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.before, g.after = !after, after
}

func (g *gate) pass(flag *bool) {
	g.mu.Lock()
	stop := *flag
	*flag = false
	g.mu.Unlock()
	if stop {
		g.held <- struct{}{}
		<-g.goOn
	}
}

func (g *gate) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	g.pass(&g.before)
	defer g.pass(&g.after)
	return g.Store.Take(ctx, charges, results)
}

func (g *gate) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	g.pass(&g.before)
	defer g.pass(&g.after)
	return g.Store.Adjust(ctx, adjustments)
}

// TestCallsUnderWay lets one call go on only after another one is done. Whatever the
// order, no denial is remembered that the other call made untrue, and one of another
// key is.
func TestCallsUnderWay(t *testing.T) {
	penalty := ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: time.Hour}
	for name, c := range map[string]struct {
		slow, fast func(l *lab, api, bans *ratelimit.Space)
		keys       int64 // remembered in the end
	}{
		"a denial, a reset": {denied, reset("ann"), 0},
		"a reset, a denial": {reset("ann"), denied, 0},
		"a denial, a charge": {denied, func(l *lab, api, _ *ratelimit.Space) {
			l.take(on(api, 1))
		}, 0},
		"a charge, a denial": {func(l *lab, api, _ *ratelimit.Space) {
			l.take(mode(on(api, 1), ratelimit.Force))
		}, denied, 0},
		"a denial, a reset of another key": {denied, reset("somebody else"), 1},
		"a ban, another penalty": {banned, func(l *lab, _, _ *ratelimit.Space) {
			l.open(ratelimit.NewPenaltySpace("bans", penalty))
		}, 0},
		"a ban, another policy": {banned, func(l *lab, _, _ *ratelimit.Space) {
			l.space("other", ratelimit.PerMinute(1))
		}, 1},
		"a denial, a step of the clock": {denied, func(l *lab, _, _ *ratelimit.Space) {
			l.clock.Advance(-us)
		}, 0},
		"a denial, its end": {denied, func(l *lab, _, _ *ratelimit.Space) {
			l.clock.Advance(18 * time.Second)
		}, 0},
	} {
		for _, after := range []bool{false, true} {
			l := newLab(t, long)
			g := newGate(l.memory)
			l.asked.Store = g
			api := l.space("api", ratelimit.PerMinute(10))
			bans := l.open(ratelimit.NewPenaltySpace("bans", penalty))
			l.take(on(api, 9))
			g.shut(after)
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.slow(l, api, bans)
			}()
			<-g.held
			c.fast(l, api, bans)
			g.goOn <- struct{}{}
			<-done
			if got := l.cache.Stats().Keys; got != c.keys {
				t.Errorf("%s, held up after its decision %t: %d keys remembered, want %d", name, after, got, c.keys)
			}
		}
	}
}

// Charges of other keys, which come all the time, seldom keep a denial from being remembered.
func TestBusyNeighbours(t *testing.T) {
	remembered := int64(0)
	for range 64 {
		l := newLab(t, denycache.Config{MaxKeys: 1}) // all keys in one shard
		g := newGate(l.memory)
		l.asked.Store = g
		api := l.space("api", ratelimit.PerMinute(10))
		l.take(on(api, 9))
		g.shut(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.take(on(api, 4))
		}()
		<-g.held
		l.take(key(on(api, 1), "bob"))
		g.goOn <- struct{}{}
		<-done
		remembered += l.cache.Stats().Keys
	}
	if remembered < 40 { // 60 are expected
		t.Errorf("%d of 64 denials were remembered", remembered)
	}
}

func denied(l *lab, api, _ *ratelimit.Space) { l.take(on(api, 4)) }

func banned(l *lab, api, bans *ratelimit.Space) {
	l.take(on(api, 4), on(bans, 1))
}

func reset(name string) func(*lab, *ratelimit.Space, *ratelimit.Space) {
	return func(l *lab, api, _ *ratelimit.Space) {
		l.adjust(ratelimit.Adjustment{Op: ratelimit.Reset, Space: api, Key: []byte(name)})
	}
}

// TestSlowStore: 10 a minute were taken at 0 s, so that 1 fits at 6 s. A call of 1 s
// is denied at its beginning or at its end, which the cache cannot tell.
func TestSlowStore(t *testing.T) {
	for _, c := range []struct {
		after bool          // the clock moves after the decision
		told  string        // at 1 s, by a hit
		end   time.Duration // from here on the store is asked
	}{
		{true, "6s", 6 * time.Second},  // RetryAfter 6s, from 0 s at the earliest and 1 s at the latest
		{false, "5s", 5 * time.Second}, // RetryAfter 5s, the same
	} {
		l := newLab(t, long)
		g := newGate(l.memory)
		l.asked.Store = g
		api := l.space("api", ratelimit.PerMinute(10))
		l.take(on(api, 10))
		start := l.clock.Now()
		g.shut(c.after)
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.take(on(api, 1))
		}()
		<-g.held
		l.clock.Advance(time.Second)
		g.goOn <- struct{}{}
		<-done
		l.clock.Set(start)
		l.play([]step{
			{time.Second, nil, charges{on(api, 1)}, false, c.told},
			{c.end - us, nil, charges{on(api, 1)}, false, "1.000001s"},
			{c.end, nil, charges{on(api, 1), on(api, 0)}, true, map[bool]string{true: "ok ok", false: "1s ok"}[c.after]},
		})
	}
}

// Whatever happens at once, what the cache denies in the end the store denies too.
func TestNothingStaleStays(t *testing.T) {
	names := []string{"a", "b", "c"}
	for round := range 30 {
		l := newLab(t, long)
		api := l.space("api", ratelimit.PerMinute(10))
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(n)))
				results := make([]ratelimit.Result, 1)
				for range 300 {
					name := names[rng.IntN(len(names))]
					switch rng.IntN(12) {
					case 0:
						_ = l.cache.Adjust(t.Context(), []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: api, Key: []byte(name)}})
					default:
						_ = l.cache.Take(t.Context(), charges{key(on(api, 3), name)}, results)
					}
				}
			})
		}
		wg.Wait()
		if l.cache.Stats().Hits == 0 {
			t.Fatal("nothing was answered by the cache")
		}
		for _, name := range names {
			look := make([]ratelimit.Result, 1)
			if err := l.memory.Take(t.Context(), charges{key(on(api, 0), name)}, look); err != nil {
				t.Fatal(err)
			}
			if fits := look[0].Remaining >= 3; l.take(key(on(api, 3), name))[0].Allowed != fits {
				t.Fatalf("round %d: 3 of %d: want allowed %t", round, look[0].Remaining, fits)
			}
		}
	}
}

// One key that everybody asks for.
func TestOneHotKey(t *testing.T) {
	l := newLab(t, denycache.Config{})
	api := l.space("api", ratelimit.PerHour(100))
	var wg sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		wg.Go(func() {
			results := make([]ratelimit.Result, 1)
			for range 200 {
				if l.cache.Take(t.Context(), charges{on(api, 1)}, results) == nil && results[0].Allowed {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	s := l.cache.Stats()
	if asked := l.asked.takes.Load(); admitted != 100 || asked+s.Hits != 1600 || s.Hits == 0 {
		t.Errorf("%d admitted, %d asked, %+v; want 100 admitted, 1600 in all", admitted, asked, s)
	}
}
