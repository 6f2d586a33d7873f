package approx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
)

// fleet is five instances under ten times the limit, in a bubble's time.
type fleet struct {
	limit   ratelimit.Limit
	every   time.Duration
	oneWay  time.Duration
	windows int
	burst   int // requests that come at once

	admitted int64 // in all
	worst    int64 // units in use above the capacity, a charge counting from its decision on
	most     int64 // that an instance admitted from the sending of an exchange to the answer of the next
}

const instances = 5

func (f *fleet) run(t *testing.T, seed uint64) {
	exact := ratelimit.NewMemory(ratelimit.MemoryConfig{}) // is charged at once what is admitted anywhere
	shared := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	space := ratelimit.NewSpace("api", f.limit)
	if err := exact.Open(space); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Duration(f.windows) * f.limit.Window)
	gap := f.limit.Window * time.Duration(instances*f.burst) / time.Duration(10*f.limit.Quota)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range instances {
		wg.Go(func() {
			var taken, before, sent int64 // under mu: now, at the sending before the last, at the last
			way := &link{Store: shared, way: way{oneWay: f.oneWay}}
			way.onSend = func() {
				mu.Lock()
				defer mu.Unlock()
				before, sent = sent, taken
			}
			way.onReceive = func() {
				mu.Lock()
				defer mu.Unlock()
				f.most = max(f.most, taken-before)
			}
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			i := newInstance(t, way, f.limit, approx.Config{Every: f.every})
			time.Sleep(time.Duration(random.Int64N(int64(f.every)))) // so that the instances are out of step
			for time.Now().Before(end) {
				for range f.burst {
					mu.Lock()
					if r := i.take(everyone, 1); r.Allowed {
						taken++
						f.admitted++
						charge := i.charge(everyone, 1)
						charge.Space, charge.Mode = space, ratelimit.Force
						result := make([]ratelimit.Result, 1)
						if err := exact.Take(context.Background(), []ratelimit.Charge{charge}, result); err != nil {
							t.Error(err)
						}
						f.worst = max(f.worst, result[0].Used-f.limit.Capacity())
					}
					f.most = max(f.most, taken-sent)
					mu.Unlock()
				}
				time.Sleep(1 + time.Duration(random.Int64N(int64(2*gap))))
			}
			i.Close()
		})
	}
	wg.Wait()
}

// TestOvershoot holds the documented bound, and that what is admitted in the long run
// is the limit: buckets pay their overshoot back, windows start anew.
func TestOvershoot(t *testing.T) {
	for _, a := range algorithms {
		for _, c := range []fleet{
			{limit: ratelimit.PerSecond(100).Using(a), every: 100 * time.Millisecond, oneWay: 5 * time.Millisecond, windows: 5, burst: 1},
			{limit: ratelimit.PerSecond(100).Using(a), every: 100 * time.Millisecond, oneWay: 70 * time.Millisecond, windows: 5, burst: 1},
			{limit: ratelimit.Per(1000, 10*time.Second).Using(a), every: 100 * time.Millisecond, oneWay: time.Millisecond, windows: 2, burst: 5},
			{limit: ratelimit.PerSecond(20).Using(a), every: 50 * time.Millisecond, oneWay: time.Millisecond, windows: 5, burst: 40},
		} {
			t.Run(fmt.Sprintf("%v, %d in %v, %v away, %d at once", a, c.limit.Quota, c.limit.Window, c.oneWay, c.burst), func(t *testing.T) {
				var worst, most int64
				for seed := range uint64(seeds) {
					f := c
					synctest.Test(t, func(t *testing.T) { f.run(t, seed) })
					f.check(t, seed)
					worst, most = max(worst, f.worst), max(most, f.most)
				}
				t.Logf("worst %d above %d; an instance admits up to %d in an exchange", worst, c.limit.Quota, most)
			})
		}
	}
}

const seeds = 6

func (f *fleet) check(t *testing.T, seed uint64) {
	bound := (instances - 1) * f.most
	if f.worst > bound {
		t.Errorf("seed %d: %d above the limit, want at most %d: an instance admits up to %d in an exchange", seed, f.worst, bound, f.most)
	}
	least := f.limit.Quota * int64(f.windows)
	most := least + f.limit.Capacity() + bound
	if a := f.limit.Algorithm; a == ratelimit.FixedWindow || a == ratelimit.SlidingCounter {
		most = (f.limit.Quota + bound) * int64(f.windows)
	}
	if f.admitted < least || f.admitted > most {
		t.Errorf("seed %d: %d admitted in %d windows, want %d to %d", seed, f.admitted, f.windows, least, most)
	}
}
