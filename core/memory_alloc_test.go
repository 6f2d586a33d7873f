package ratelimit

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"
)

// regulars are keys that are charged ten times, a second apart, and again as soon as
// all of these charges but the last have expired: logs grow from 1 entry to 10 and
// fall back, and no key is ever idle.
type regulars struct {
	store  *Memory
	clock  time.Time
	keys   [][]byte
	charge [1]Charge
	result [1]Result
}

const inARow = 10

func newRegulars(t *testing.T, n int, a Algorithm) *regulars {
	r := &regulars{clock: time.Unix(1_700_000_000, 0)}
	r.store = NewMemory(MemoryConfig{Now: func() time.Time { return r.clock }})
	s := NewSpace("p", Per(inARow, 5*time.Minute).Using(a))
	if err := r.store.Open(s); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r.keys = append(r.keys, fmt.Append(nil, "key", i))
	}
	r.charge[0] = Charge{Space: s, Limit: s.Limits[0], Cost: 1}
	return r
}

// burst charges each key ten times within ten seconds.
func (r *regulars) burst(t *testing.T) {
	for range inARow {
		for _, key := range r.keys {
			r.clock = r.clock.Add(time.Second / time.Duration(len(r.keys)))
			r.charge[0].Key = key
			if err := r.store.Take(context.Background(), r.charge[:], r.result[:]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (r *regulars) pause() { r.clock = r.clock.Add(5*time.Minute - 1500*time.Millisecond) }

// TestSteadyStateAllocatesNothing counts every allocation of some thousand charges,
// the sweep's among them. A mean of whole numbers would not show one in a hundred.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for a := range numAlgorithms {
		for _, n := range []int{1, 20, 200} {
			r := newRegulars(t, n, a)
			bursts := 2 + 4000/(n*inARow)
			round := func() uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range bursts {
					r.burst(t)
					r.pause()
				}
				runtime.ReadMemStats(&after)
				return after.Mallocs - before.Mallocs
			}
			round()
			least := uint64(math.MaxUint64)
			for range 3 { // the runtime itself allocates now and then
				least = min(least, round())
			}
			if least > 0 {
				t.Errorf("%v, %d keys: %d allocations in %d charges, want none", a, n, least, bursts*n*inARow)
			}
		}
	}
}
