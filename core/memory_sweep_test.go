package ratelimit

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestSweepAfterTheClockSteppedBack: what was due in a far future is due at once.
func TestSweepAfterTheClockSteppedBack(t *testing.T) {
	for _, back := range []time.Duration{0, time.Millisecond, time.Hour, 100 * 365 * 24 * time.Hour} {
		clock := time.Unix(1_700_000_000, 0).Add(back)
		m := NewMemory(MemoryConfig{Now: func() time.Time { return clock }})
		s := NewSpace("p", PerSecond(10))
		if err := m.Open(s); err != nil {
			t.Fatal(err)
		}
		take := func(key string) {
			clock = clock.Add(time.Millisecond)
			if err := m.Take(context.Background(), []Charge{{Space: s, Key: []byte(key), Limit: s.Limits[0], Cost: 1}}, make([]Result, 1)); err != nil {
				t.Fatal(err)
			}
		}
		take("busy")
		clock = clock.Add(-back)
		for i := range 100 {
			take(fmt.Sprint(i))
		}
		clock = clock.Add(10 * time.Minute)
		for range 10 * maxShards {
			take("busy")
		}
		if n := m.Stats().Keys; n != 1 {
			t.Errorf("the clock stepped back by %v: %d keys are left, want the one in use", back, n)
		}
	}
}

// TestSweepGivesLogsBack: once their keys are forgotten, nothing is held for logs.
func TestSweepGivesLogsBack(t *testing.T) {
	r := newRegulars(t, 300, SlidingLog)
	r.burst(t)
	r.clock = r.clock.Add(time.Hour)
	r.keys = r.keys[:1]
	sp := r.charge[0].Space.memory.Load()
	for range maxShards {
		r.burst(t)
		r.clock = r.clock.Add(5 * time.Minute)
	}
	for i := range sp.shards {
		sh := &sp.shards[i]
		if sh.logs.pools == nil || sh.live.keys+sh.old.keys > 0 {
			continue
		}
		for class, p := range sh.logs.pools {
			if p.chunks != nil {
				t.Errorf("shard %d has no keys, and %d chunks of class %d", i, len(p.chunks), class)
			}
		}
	}
	if n := sp.keys.Load(); n != 1 {
		t.Errorf("%d keys are left, want the one in use", n)
	}
}
