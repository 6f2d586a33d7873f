package ratelimit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// crowd is a store that random Takes of one to six keys are made on.
type crowd struct {
	t       *testing.T
	rnd     *rand.Rand
	clock   time.Time
	store   *Memory
	space   *Space
	charges []Charge
	results []Result
}

func newCrowd(t *testing.T, seed uint64, maxKeys int, limit Limit) *crowd {
	c := &crowd{t: t, rnd: rand.New(rand.NewPCG(seed, uint64(limit.Algorithm))), clock: time.Unix(1_700_000_000, 0)}
	c.store = NewMemory(MemoryConfig{MaxKeys: maxKeys, Now: func() time.Time { return c.clock }})
	c.space = NewSpace("p", limit)
	if err := c.store.Open(c.space); err != nil {
		t.Fatal(err)
	}
	return c
}

// take charges some of n keys, the same one twice now and then, and calls check for
// each charge.
func (c *crowd) take(n int, cost func(key int) int64, check func(key string, cost int64, r Result)) {
	c.t.Helper()
	c.charges, c.results = c.charges[:0], c.results[:0]
	for range 1 + c.rnd.IntN(6) {
		key := c.rnd.IntN(n)
		c.charges = append(c.charges, Charge{Space: c.space, Key: fmt.Append(nil, key), Limit: c.space.Limits[0], Cost: cost(key)})
		c.results = append(c.results, Result{})
	}
	if err := c.store.Take(context.Background(), c.charges, c.results); err != nil {
		c.t.Fatal(err)
	}
	for i := range c.charges {
		check(string(c.charges[i].Key), c.charges[i].Cost, c.results[i])
	}
}

// TestTakeWhileTablesGrow: what one key of a Take does to the table, growing it or
// pushing another key aside, loses and mixes up no other key of the same Take.
func TestTakeWhileTablesGrow(t *testing.T) {
	for _, a := range []Algorithm{FixedWindow, SlidingLog, GCRA} {
		for seed := range uint64(6) {
			const keys = 1800 // of 1,900: in one shard, and nobody has to go
			c := newCrowd(t, seed, 1900, PerDay(1000).Using(a))
			want := map[string]int64{}
			for step := range 3000 {
				c.take(keys, func(int) int64 { return 1 + c.rnd.Int64N(2) }, func(key string, cost int64, r Result) {
					if want[key] += cost; r.Used != want[key] {
						t.Fatalf("%v, seed %d, step %d: %d of key %s used, want %d", a, seed, step, r.Used, key, want[key])
					}
				})
			}
			if s := c.store.Stats(); s.Evictions != 0 || s.Keys != int64(len(want)) {
				t.Fatalf("%v, seed %d: %+v, want %d keys", a, seed, s, len(want))
			}
		}
	}
}

// TestTakeWhileKeysAreEvicted: where the keys of a Take evict each other, each one
// is right or gone, and its log its own.
func TestTakeWhileKeysAreEvicted(t *testing.T) {
	long, short := PerDay(100_000), Per(100_000, time.Millisecond) // of the short one, logs expire meanwhile
	for _, limit := range []Limit{long.Using(FixedWindow), long.Using(SlidingLog), short.Using(SlidingLog)} {
		for seed := range uint64(6) {
			c := newCrowd(t, seed, 40, limit)
			for step := range 2000 {
				c.clock = c.clock.Add(10 * time.Microsecond)
				c.take(100, func(key int) int64 { return 1000 + int64(key) }, func(key string, cost int64, r Result) {
					if r.Allowed && r.Used%cost != 0 { // not this key's alone
						t.Fatalf("%v, seed %d, step %d: %d of key %s used, no multiple of %d", limit, seed, step, r.Used, key, cost)
					}
				})
				if step%100 == 0 {
					c.count()
				}
			}
			c.count()
		}
	}
}

// count: there are as many keys in the tables as are counted, and as many logs in
// the arenas.
func (c *crowd) count() {
	c.t.Helper()
	sp := c.space.memory.Load()
	keys, logs := 0, 0
	for i := range sp.shards {
		sh := &sp.shards[i]
		keys += sh.live.keys + sh.old.keys
		logs += sh.logs.blocks()
	}
	if counted := int(sp.keys.Load()); keys != counted || sp.log && logs != counted {
		c.t.Fatalf("%d keys in the tables and %d logs, %d counted", keys, logs, counted)
	}
}

// blocks returns how many blocks are in use.
func (a *logArena) blocks() (n int) {
	if a.pools == nil {
		return 0
	}
	for i := range a.pools {
		n += int(a.pools[i].used)
	}
	return n
}
