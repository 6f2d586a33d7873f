package approx_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/limittest"
)

// hammer runs f on several goroutines, many times each.
func hammer(goroutines, times int, f func(random *rand.Rand)) {
	var wg sync.WaitGroup
	for n := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for range times {
				f(random)
			}
		})
	}
	wg.Wait()
}

// TestNoUnitIsLost charges and gives back on many goroutines of two instances, while
// exchanges run: in the end the shared store holds what the receipts say.
func TestNoUnitIsLost(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			var clock limittest.Clock
			limit := ratelimit.PerHour(1 << 30).Using(a)
			shared := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
			const keys = 200 // two batches
			var want [keys]atomic.Int64
			var wg sync.WaitGroup
			for range 2 {
				i := newInstance(t, shared, limit, approx.Config{Every: time.Millisecond, Timeout: time.Minute, Now: clock.Now})
				wg.Go(func() {
					hammer(4, 1000, func(random *rand.Rand) {
						n, m := random.IntN(keys), random.IntN(keys)
						charges := []ratelimit.Charge{i.charge(strconv.Itoa(n), random.Int64N(3)), i.charge(strconv.Itoa(m), random.Int64N(3))}
						results := make([]ratelimit.Result, 2)
						if err := i.Take(context.Background(), charges, results); err != nil {
							t.Error(err)
						}
						want[n].Add(results[0].Receipt.Units)
						want[m].Add(results[1].Receipt.Units)
						switch random.IntN(8) {
						case 0:
							if a == ratelimit.LeakyBucket {
								break // whether a queue gives back depends on who else is in it
							}
							units := results[0].Receipt.Units
							i.adjust(ratelimit.Refund, strconv.Itoa(n), units, results[0].Receipt)
							want[n].Add(-units)
						case 1:
							want[n].Add(i.adjust(ratelimit.Extra, strconv.Itoa(n), 2, ratelimit.Receipt{}).Units)
						case 2:
							if err := i.Flush(context.Background()); err != nil {
								t.Error(err)
							}
						}
					})
					i.flush()
				})
			}
			wg.Wait()
			space := ratelimit.NewSpace("api", limit)
			for n := range keys {
				if got := look(t, shared, space, strconv.Itoa(n)); got != want[n].Load() {
					t.Errorf("key %d: %d in use in the shared store, %d charged", n, got, want[n].Load())
				}
			}
		})
	}
}

// TestAloneIsExact holds that exchanges under way never open a gap: a single instance
// admits its limit to many goroutines, and not one more.
func TestAloneIsExact(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			var clock limittest.Clock
			shared := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
			i := newInstance(t, shared, ratelimit.PerHour(5000).Using(a), approx.Config{Every: time.Millisecond, Timeout: time.Minute, Now: clock.Now})
			var admitted atomic.Int64
			hammer(8, 1000, func(random *rand.Rand) {
				if random.IntN(2) == 0 {
					i.flush()
				}
				admitted.Add(i.take(everyone, 1).Receipt.Units)
			})
			if admitted.Load() != 5000 {
				t.Errorf("8,000 asked for, 5,000 an hour: want 5000 admitted, got %d", admitted.Load())
			}
		})
	}
}

// TestOvershootOfGoroutines holds the bound with real goroutines.
func TestOvershootOfGoroutines(t *testing.T) {
	const goroutines = 4
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			var clock limittest.Clock // stands still: nothing comes back
			limit := ratelimit.PerHour(3000).Using(a)
			shared := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
			var admitted, most atomic.Int64
			var wg sync.WaitGroup
			for range instances {
				var taken atomic.Int64
				var answers [3]int64 // taken at the last ones
				way := &link{Store: shared}
				// What is charged between the locks and these calls belongs to either
				// exchange, so x is what was taken from one answer to the sending after
				// the next two.
				way.onSend = func() { raise(&most, taken.Load()-answers[2]) }
				way.onReceive = func() { answers = [3]int64{taken.Load(), answers[0], answers[1]} }
				i := newInstance(t, way, limit, approx.Config{Every: 2 * time.Millisecond, Timeout: time.Minute, Now: clock.Now})
				wg.Go(func() {
					hammer(goroutines, 2*3000/goroutines, func(*rand.Rand) {
						if i.take(everyone, 1).Allowed {
							taken.Add(1)
							admitted.Add(1)
						}
						time.Sleep(10 * time.Microsecond)
					})
					if err := i.Close(); err != nil {
						t.Error(err)
					}
					raise(&most, taken.Load()-answers[2])
				})
			}
			wg.Wait()
			x := most.Load() + goroutines // which may be between decision and count
			bound := (instances - 1) * x
			if over := admitted.Load() - limit.Quota; over < 0 || over > bound {
				t.Errorf("%d admitted, want %d to %d: an instance admits up to %d in an exchange", admitted.Load(), limit.Quota, limit.Quota+bound, x)
			}
			t.Logf("%d admitted of %d, at most %d allowed for", admitted.Load(), limit.Quota, limit.Quota+bound)
		})
	}
}

func raise(most *atomic.Int64, n int64) {
	for old := most.Load(); n > old && !most.CompareAndSwap(old, n); {
		old = most.Load()
	}
}
