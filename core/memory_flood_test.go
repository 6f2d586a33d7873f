package ratelimit

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// flooded is a store of few keys with a frozen clock.
type flooded struct {
	t     testing.TB
	store *Memory
	space *Space
}

func flood(t testing.TB, maxKeys int, limit Limit) flooded {
	m := NewMemory(MemoryConfig{MaxKeys: maxKeys, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
	s := NewSpace("p", limit)
	if err := m.Open(s); err != nil {
		t.Fatal(err)
	}
	return flooded{t, m, s}
}

func (f flooded) take(key string, cost int64) Result {
	var r [1]Result
	if err := f.store.Take(context.Background(), []Charge{{Space: f.space, Key: []byte(key), Limit: f.space.Limits[0], Cost: cost}}, r[:]); err != nil {
		f.t.Fatal(err)
	}
	return r[0]
}

// TestFlood: an attacker adds keys without end while a victim is at its limit. The
// victim's denial must not be lifted while any key with quota left is in sight.
func TestFlood(t *testing.T) {
	for _, algorithm := range []Algorithm{TokenBucket, GCRA, LeakyBucket, FixedWindow, SlidingLog, SlidingCounter} {
		for _, maxKeys := range []int{1000, 20_000} {
			limit := PerHour(10).Using(algorithm)
			t.Run(fmt.Sprintf("%v/%d keys/nearly full quota left", algorithm, maxKeys), func(t *testing.T) {
				f := flood(t, maxKeys, limit)
				f.take("victim", 10)
				for i := range 2 * maxKeys {
					f.take(fmt.Sprint("attacker", i), 1)
				}
				f.check(maxKeys, "victim")
			})
			t.Run(fmt.Sprintf("%v/%d keys/one unit left", algorithm, maxKeys), func(t *testing.T) {
				f := flood(t, maxKeys, limit)
				f.take("victim", 10)
				for i := range 2 * maxKeys {
					f.take(fmt.Sprint("attacker", i), 9)
				}
				f.check(maxKeys, "victim")
			})
		}
	}
}

// check: the victim is still denied, and what had to go was counted.
func (f flooded) check(maxKeys int, victim string) {
	f.t.Helper()
	if r := f.take(victim, 1); r.Allowed || r.Used != 10 {
		f.t.Errorf("the victim's state is gone: %+v", r)
	}
	if s := f.store.Stats(); s.Keys > int64(maxKeys) || s.Keys+s.Evictions != int64(2*maxKeys+1) {
		f.t.Errorf("%d keys and %d evictions, want at most %d and together %d", s.Keys, s.Evictions, maxKeys, 2*maxKeys+1)
	}
}

// TestFloodAtTheLimit: where every key of the flood is at its limit too, as with a
// quota of 1, all keys are equal and the one charged longest ago in the sample goes.
// So the newest denials hold, and the oldest of more than MaxKeys cannot.
func TestFloodAtTheLimit(t *testing.T) {
	const maxKeys = 1000
	f := flood(t, maxKeys, PerHour(1))
	clock := time.Unix(1_700_000_000, 0)
	f.store.clock.now = func() time.Time { return clock }
	for i := range 3 * maxKeys {
		clock = clock.Add(time.Millisecond)
		if r := f.take(fmt.Sprint("key", i), 1); !r.Allowed {
			t.Fatalf("key %d was never seen, and is denied", i)
		}
	}
	held, recent := 0, 0
	for i := range 3 * maxKeys {
		if f.take(fmt.Sprint("key", i), 0).Remaining == 0 {
			held++
			if i >= 2*maxKeys {
				recent++
			}
		}
	}
	s := f.store.Stats()
	t.Logf("%d of the last %d denials hold, %d in all; %d evictions", recent, maxKeys, held, s.Evictions)
	if held != maxKeys || s.Evictions != 2*maxKeys {
		t.Errorf("%d denials hold and %d evictions, want %d and %d", held, s.Evictions, maxKeys, 2*maxKeys)
	}
	if recent < maxKeys*6/10 {
		t.Errorf("only %d of the last %d denials hold", recent, maxKeys)
	}
}

// TestIdleKeysGoFirst: a new key displaces one whose quota is back, and that is no
// eviction.
func TestIdleKeysGoFirst(t *testing.T) {
	const maxKeys = 500
	f := flood(t, maxKeys, PerSecond(10))
	clock := time.Unix(1_700_000_000, 0)
	f.store.clock.now = func() time.Time { return clock }
	for i := range maxKeys {
		f.take(fmt.Sprint("old", i), 1)
	}
	clock = clock.Add(time.Second)
	for i := range maxKeys / 4 {
		f.take(fmt.Sprint("new", i), 1)
	}
	if s := f.store.Stats(); s.Keys != maxKeys || s.Evictions != 0 {
		t.Errorf("%d keys and %d evictions, want %d and 0", s.Keys, s.Evictions, maxKeys)
	}
}

// TestFloodOfOnePolicy: a flood on one policy evicts nobody from another.
func TestFloodOfOnePolicy(t *testing.T) {
	f := flood(t, 100, PerHour(10))
	other := NewSpace("other", PerHour(10))
	if err := f.store.Open(other); err != nil {
		t.Fatal(err)
	}
	g := flooded{t, f.store, other}
	for i := range 100 {
		g.take(fmt.Sprint(i), 1)
	}
	for i := range 1000 {
		f.take(fmt.Sprint(i), 1)
	}
	for i := range 100 {
		if r := g.take(fmt.Sprint(i), 0); r.Used != 1 {
			t.Fatalf("key %d of the other policy is gone", i)
		}
	}
}
