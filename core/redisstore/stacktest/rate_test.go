package stacktest_test

import (
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A unit comes back every 200 µs, so a key lives for less than a millisecond. The limit
// holds all the same, and nobody sees an error for an expiry of none.
func TestWaitsBelowAMillisecondThroughLimiter(t *testing.T) {
	server := redistest.Start(t)
	clock := func() int64 {
		reply, err := server.Do("TIME")
		if err != nil {
			t.Fatal(err)
		}
		parts := reply.([]any)
		return number(t, parts[0])*1_000_000 + number(t, parts[1])
	}
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.GCRA, ratelimit.LeakyBucket} {
		stacks(t, server.URL(), enough, func(t *testing.T, s *stack) {
			name := algorithm.String()
			l := s.limiter(t, ratelimit.Policy{Name: name, Limit: ratelimit.PerSecond(5000).WithBurst(1).Using(algorithm)})
			from := clock()
			var admitted int64
			for end := time.Now().Add(patience); ; {
				var wg sync.WaitGroup
				for range 100 {
					wg.Go(func() {
						if _, err := l.Allow(t.Context(), "key", 1); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				admitted = s.tally.admitted(name + " key")
				if s.tally.calls()-admitted >= 100 && admitted >= 10 {
					break
				}
				if s.tally.failures() > 0 || time.Now().After(end) {
					t.Fatalf("%d of %d calls were admitted", admitted, s.tally.calls())
				}
			}
			if most := 1 + (clock()-from)/200; admitted > most || s.tally.failures() > 0 {
				t.Errorf("%d admitted, want at most %d; %d failures", admitted, most, s.tally.failures())
			}
		})
	}
}
