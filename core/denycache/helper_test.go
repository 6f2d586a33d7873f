package denycache_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/limittest"
)

// counted counts what it is asked.
type counted struct {
	ratelimit.Store

	takes atomic.Int64
}

func (c *counted) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	c.takes.Add(1)
	return c.Store.Take(ctx, charges, results)
}

// lab is a cache around a memory store, on one clock.
type lab struct {
	testing.TB
	clock  limittest.Clock
	memory *ratelimit.Memory
	asked  *counted
	cache  *denycache.Store
}

func newLab(t testing.TB, config denycache.Config) *lab {
	t.Helper()
	l := &lab{TB: t}
	l.memory = ratelimit.NewMemory(ratelimit.MemoryConfig{Now: l.clock.Now})
	l.asked = &counted{Store: l.memory}
	config.Now = l.clock.Now
	l.cache = l.wrap(l.asked, config)
	return l
}

func (l *lab) wrap(store ratelimit.Store, config denycache.Config) *denycache.Store {
	l.Helper()
	cache, err := denycache.New(store, config)
	if err != nil {
		l.Fatal(err)
	}
	return cache
}

// space opens the space of a policy.
func (l *lab) space(policy string, limits ...ratelimit.Limit) *ratelimit.Space {
	l.Helper()
	return l.open(ratelimit.NewSpace(policy, limits...))
}

func (l *lab) open(s *ratelimit.Space) *ratelimit.Space {
	l.Helper()
	if err := l.cache.Open(s); err != nil {
		l.Fatal(err)
	}
	return s
}

func (l *lab) take(charges ...ratelimit.Charge) []ratelimit.Result {
	l.Helper()
	results := make([]ratelimit.Result, len(charges))
	if err := l.cache.Take(context.Background(), charges, results); err != nil {
		l.Fatal(err)
	}
	return results
}

func (l *lab) adjust(adjustments ...ratelimit.Adjustment) {
	l.Helper()
	if err := l.cache.Adjust(context.Background(), adjustments); err != nil {
		l.Fatal(err)
	}
}

// on returns a charge on the key "ann", under the first limit of a space.
func on(s *ratelimit.Space, cost int64) ratelimit.Charge {
	c := ratelimit.Charge{Space: s, Key: []byte("ann"), Cost: cost}
	if s.Penalty != nil {
		c.Mode = ratelimit.Strike
	} else {
		c.Limit = s.Limits[0]
	}
	return c
}

func key(c ratelimit.Charge, key string) ratelimit.Charge { c.Key = []byte(key); return c }

func mode(c ratelimit.Charge, m ratelimit.Mode) ratelimit.Charge { c.Mode = m; return c }

func under(c ratelimit.Charge, l ratelimit.Limit) ratelimit.Charge { c.Limit = l; return c }

func within(c ratelimit.Charge, d time.Duration) ratelimit.Charge { c.MaxDelay = d; return c }

// told returns what matters of results: "ok", a wait, "never", or "-" where the charge
// was not asked.
func told(results []ratelimit.Result) string {
	var words []string
	for _, r := range results {
		switch {
		case r == ratelimit.Result{Allowed: true}:
			words = append(words, "-")
		case r.Allowed:
			words = append(words, "ok")
		case r.RetryAfter == ratelimit.Never:
			words = append(words, "never")
		default:
			words = append(words, r.RetryAfter.String())
		}
	}
	return strings.Join(words, " ")
}

// step is one Take of a trace.
type step struct {
	at     time.Duration // since the trace began
	before func()        // what happens first
	take   []ratelimit.Charge
	asked  bool   // the store was
	told   string // see told
}

type charges = []ratelimit.Charge

func (l *lab) play(steps []step) {
	l.Helper()
	start := l.clock.Now()
	for i, s := range steps {
		l.clock.Set(start.Add(s.at))
		if s.before != nil {
			s.before()
		}
		before := l.asked.takes.Load()
		got := told(l.take(s.take...))
		if asked := l.asked.takes.Load() > before; asked != s.asked || got != s.told {
			l.Errorf("step %d, at %v: asked %t, told %q; want %t, %q", i, s.at, asked, got, s.asked, s.told)
		}
	}
}
