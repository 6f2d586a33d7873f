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
	"github.com/weirhq/ratelimit/core/limittest"
)

// skewed are instances under ten times the limit whose clocks differ from the shared
// store's.
type skewed struct {
	limit ratelimit.Limit
	skews []time.Duration // one an instance
	burst int             // requests that come at once

	mu       sync.Mutex
	admitted [][]time.Time     // by each
	windows  map[int64]int64   // admitted in each window, as the instances' clocks count them
	worst    int64             // units in use above the capacity
	exact    *ratelimit.Memory // is charged at once what is admitted anywhere
	space    *ratelimit.Space
}

const skewWindows = 8

func (s *skewed) run(t *testing.T, seed uint64) {
	s.exact, s.space = ratelimit.NewMemory(ratelimit.MemoryConfig{}), ratelimit.NewSpace("api", s.limit)
	s.admitted, s.windows = make([][]time.Time, len(s.skews)), map[int64]int64{}
	if err := s.exact.Open(s.space); err != nil {
		t.Fatal(err)
	}
	shared := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: time.Millisecond}}
	end := time.Now().Add(skewWindows * s.limit.Window)
	gap := s.limit.Window * time.Duration(len(s.skews)*s.burst) / time.Duration(10*s.limit.Quota)
	var wg sync.WaitGroup
	for n, skew := range s.skews {
		wg.Go(func() {
			now := func() time.Time { return time.Now().Add(skew) }
			i := newInstance(t, shared, s.limit, approx.Config{Now: now})
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			time.Sleep(time.Duration(random.Int64N(int64(100 * time.Millisecond))))
			for time.Now().Before(end) {
				for range s.burst {
					s.count(t, n, i.take(everyone, 1))
				}
				time.Sleep(1 + time.Duration(random.Int64N(int64(2*gap))))
			}
			i.Close()
		})
	}
	wg.Wait()
}

func (s *skewed) count(t *testing.T, n int, r ratelimit.Result) {
	if !r.Allowed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted[n] = append(s.admitted[n], time.Now())
	window := r.Receipt.At / s.limit.Window.Microseconds()
	s.windows[window]++
	charge := ratelimit.Charge{Space: s.space, Key: []byte(everyone), Limit: s.limit, Cost: 1, Mode: ratelimit.Force}
	result := make([]ratelimit.Result, 1)
	if err := s.exact.Take(context.Background(), []ratelimit.Charge{charge}, result); err != nil {
		t.Error(err)
	}
	if s.limit.Algorithm == ratelimit.FixedWindow {
		s.worst = max(s.worst, s.windows[window]-s.limit.Quota)
	} else {
		s.worst = max(s.worst, result[0].Used-s.limit.Capacity())
	}
}

// most returns the most that one instance admitted in a span.
func (s *skewed) most(span time.Duration) int64 {
	most := 0
	for _, times := range s.admitted {
		first := 0
		for last := range times {
			for times[last].Sub(times[first]) > span {
				first++
			}
			most = max(most, last-first+1)
		}
	}
	return int64(most)
}

// TestSkewedClocks holds what is documented for clocks that differ.
func TestSkewedClocks(t *testing.T) {
	for _, a := range algorithms {
		for _, skew := range []time.Duration{-150 * time.Millisecond, -20 * time.Millisecond, 20 * time.Millisecond, 150 * time.Millisecond} {
			for name, skews := range map[string][]time.Duration{
				"one": {skew}, "five, apart": {skew, -skew, skew, -skew, 0}, "five, alike": {skew, skew, skew, skew, skew},
			} {
				for _, burst := range []int{1, 150} {
					t.Run(fmt.Sprintf("%v, %v, %s, %d at once", a, skew, name, burst), func(t *testing.T) {
						for seed := range uint64(2) {
							s := &skewed{limit: ratelimit.PerSecond(100).Using(a), skews: skews, burst: burst}
							synctest.Test(t, func(t *testing.T) { s.run(t, seed) })
							s.check(t, seed, skew.Abs())
						}
					})
				}
			}
		}
	}
}

func (s *skewed) check(t *testing.T, seed uint64, skew time.Duration) {
	t.Helper()
	span := 104 * time.Millisecond // of an exchange, with a look before it
	n := int64(len(s.skews))
	times := n - 1
	switch s.limit.Algorithm {
	case ratelimit.FixedWindow:
		span += skew
	case ratelimit.SlidingCounter:
		span += skew
		times += n
	}
	if x := s.most(span); s.worst > times*x {
		t.Errorf("seed %d: %d above %d, want at most %d: an instance admits up to %d in an exchange", seed, s.worst, s.limit.Quota, times*x, x)
	}
}

// apart is an instance whose clock differs from the shared store's.
func apart(t *testing.T, skew time.Duration, test func(clock *limittest.Clock, way *link, ann *instance)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var clock limittest.Clock
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})}
		now := func() time.Time { return clock.Now().Add(skew) }
		ann := newInstance(t, way, ratelimit.PerMinute(10).Using(ratelimit.FixedWindow), approx.Config{Now: now})
		test(&clock, way, ann)
		ann.Close()
	})
}

// A window that has begun in the shared store does not begin here with it.
func TestWindowOfASlowClock(t *testing.T) {
	apart(t, -20*time.Millisecond, func(clock *limittest.Clock, way *link, ann *instance) {
		clock.Advance(59 * time.Second)
		ann.take("k", 10)
		ann.flush()
		clock.Advance(1005 * time.Millisecond) // 59.985s here
		ann.shared(way, "k", 0)
		ann.take("k", 0)
		ann.flush()
		ann.used("k", 10)
		clock.Advance(15 * time.Millisecond) // 60s
		ann.used("k", 0)
		ann.take("k", 7)
		ann.flush()
		ann.shared(way, "k", 7)
		ann.used("k", 7)
	})
}

// What is charged in a window that has not begun in the shared store is charged in it
// once it has, and forgotten at no time.
func TestWindowOfAFastClock(t *testing.T) {
	for name, broken := range map[string]way{"": {}, "down": doubts["down"], "reply lost": doubts["all replies lost"]} {
		t.Run(name, func(t *testing.T) {
			apart(t, 150*time.Millisecond, func(clock *limittest.Clock, way *link, ann *instance) {
				clock.Advance(59 * time.Second)
				ann.take("k", 4)
				ann.flush()
				clock.Advance(900 * time.Millisecond) // 60.05s here
				ann.take("k", 7)
				way.way = broken
				_ = ann.Flush(ann.Context())
				way.way = link{}.way
				for range 3 {
					ann.used("k", 7)
					ann.flush()
					if got := look(t, way, ann.space, "k"); got > 11 {
						t.Errorf("want at most 11 in the window that is over here, got %d", got)
					}
					ann.used("k", 7)
				}
				clock.Advance(100 * time.Millisecond) // 60.15s
				ann.shared(way, "k", 0)
				ann.take("k", 2)
				ann.used("k", 9)
				ann.flush()
				ann.shared(way, "k", 9)
				ann.used("k", 9)
				ann.flush()
				ann.shared(way, "k", 9)
			})
		})
	}
}
