package denycache_test

import (
	"context"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

// onMachine returns a cache around a memory store, both on the machine's clock, and
// the space of a policy that "ann" is denied by.
func onMachine(t testing.TB) (*denycache.Store, *ratelimit.Memory, *ratelimit.Space) {
	t.Helper()
	memory := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	l := &lab{TB: t}
	l.cache = l.wrap(memory, long)
	day := l.space("day", ratelimit.PerDay(1))
	l.take(on(day, 1))
	l.take(on(day, 1))
	return l.cache, memory, day
}

func TestAllocs(t *testing.T) {
	cache, _, day := onMachine(t)
	ctx := context.Background()
	bob, results := key(on(day, 0), "bob"), make([]ratelimit.Result, 3)
	for name, c := range map[string]charges{
		"a hit": {on(day, 1)}, "a hit among three": {bob, on(day, 1), mode(bob, ratelimit.Observe)},
		"a miss": {bob}, "three misses": {bob, bob, bob}, "a denial": {on(day, 1), on(day, 0)},
	} {
		if n := testing.AllocsPerRun(1000, func() {
			if err := cache.Take(ctx, c, results[:len(c)]); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

// BenchmarkTake compares a hit and misses with the memory store alone.
func BenchmarkTake(b *testing.B) {
	cache, memory, day := onMachine(b)
	bob := key(on(day, 0), "bob")
	for _, c := range []struct {
		name    string
		store   ratelimit.Store
		charges charges
	}{
		{"hit", cache, charges{on(day, 1)}},
		{"hit of three", cache, charges{bob, bob, on(day, 1)}},
		{"miss", cache, charges{bob}},
		{"miss, store alone", memory, charges{bob}},
		{"miss of three", cache, charges{bob, bob, bob}},
		{"miss of three, store alone", memory, charges{bob, bob, bob}},
	} {
		b.Run(c.name, func(b *testing.B) {
			results := make([]ratelimit.Result, len(c.charges))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.store.Take(context.Background(), c.charges, results); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("hit, in parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			c, results := charges{on(day, 1)}, make([]ratelimit.Result, 1)
			for pb.Next() {
				if err := cache.Take(context.Background(), c, results); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
