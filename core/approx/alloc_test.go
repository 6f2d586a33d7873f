// The race detector allocates on its own.

//go:build !race

package approx_test

import (
	"context"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
)

// A decision on a key that was touched lately allocates nothing, allowed or denied.
func TestAllocations(t *testing.T) {
	for _, a := range algorithms {
		for _, quota := range []int64{1, 1 << 30} {
			ann := newInstance(t, ratelimit.NewMemory(ratelimit.MemoryConfig{}), ratelimit.PerHour(quota).Using(a), approx.Config{Every: time.Minute})
			charges := []ratelimit.Charge{ann.charge("a", 1), ann.charge("b", 2), ann.charge("c", 3)}
			results := make([]ratelimit.Result, 3)
			take := func() {
				if err := ann.Take(context.Background(), charges, results); err != nil {
					t.Fatal(err)
				}
			}
			take()
			if got := testing.AllocsPerRun(200, take); got != 0 {
				t.Errorf("%v, %d an hour: %v allocations, want none", a, quota, got)
			}
		}
	}
}

// A new key allocates its entry, name and key, beside what the lists grow by.
func TestAllocationsOfANewKey(t *testing.T) {
	ann := newInstance(t, ratelimit.NewMemory(ratelimit.MemoryConfig{}), ratelimit.PerHour(1), approx.Config{Every: time.Minute})
	charge, results, n := []ratelimit.Charge{ann.charge("0000", 1)}, make([]ratelimit.Result, 1), 0
	got := testing.AllocsPerRun(2000, func() {
		n++
		copy(charge[0].Key, []byte{byte(n), byte(n >> 8), byte(n >> 16)})
		if err := ann.Take(context.Background(), charge, results); err != nil {
			t.Fatal(err)
		}
	})
	if got > 4 {
		t.Errorf("%v allocations, want at most 4", got)
	}
}

func BenchmarkTake(b *testing.B) {
	memory := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	ann := newInstance(b, ratelimit.NewMemory(ratelimit.MemoryConfig{}), ratelimit.PerHour(1<<30), approx.Config{Every: time.Minute})
	alone := &instance{TB: b, space: ratelimit.NewSpace("api", ann.limit), limit: ann.limit}
	if err := memory.Open(alone.space); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		store ratelimit.Store
		on    *instance
	}{{"approx", ann.Store, ann}, {"memory", memory, alone}} {
		b.Run(c.name, func(b *testing.B) {
			charge, results := []ratelimit.Charge{c.on.charge("a", 1)}, make([]ratelimit.Result, 1)
			for b.Loop() {
				if err := c.store.Take(context.Background(), charge, results); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
