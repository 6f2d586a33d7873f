package stacktest_test

import (
	"fmt"
	"sync"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// However many instances share a server, together they admit what the limit says.
func TestInstancesAdmitExactly(t *testing.T) {
	server := redistest.Start(t)
	for _, c := range []struct {
		instances, calls int
		quota            int64
	}{{20, 20, 50}, {10, 200, 500}} {
		for _, algorithm := range algorithms {
			t.Run(fmt.Sprintf("%d instances, %v", c.instances, algorithm), func(t *testing.T) {
				policy := ratelimit.Policy{Name: algorithm.String(), Limit: ratelimit.Per(c.quota, ages).Using(algorithm)}
				key := fmt.Sprint("key", c.instances)
				all := make([]*ratelimit.Limiter, c.instances)
				tallies := make([]*tally, c.instances)
				for i := range all {
					one := newInstance(t, server.URL(), layers{timeout: enough})
					all[i], tallies[i] = one.limiter(t, policy), one.tally
				}
				var wg sync.WaitGroup
				for _, l := range all {
					wg.Go(func() {
						for range c.calls {
							if _, err := l.Allow(t.Context(), key, 1); err != nil {
								t.Error(err)
							}
						}
					})
				}
				wg.Wait()
				var admitted, failures int64
				for _, y := range tallies {
					admitted += y.admitted(policy.Name + " " + key)
					failures += y.failures()
				}
				if admitted != c.quota || failures > 0 {
					t.Errorf("%d admitted, want %d; %d failures", admitted, c.quota, failures)
				}
			})
		}
	}
}

// A crowd on one key gets in each other's way, and nobody fails for it.
func TestHotKey(t *testing.T) {
	const crowd, each, quota = 500, 4, 1000
	server := redistest.Start(t)
	stacks(t, server.URL(), enough, func(t *testing.T, s *stack) {
		l := s.limiter(t, ratelimit.Policy{Name: "hot", Limit: ratelimit.Per(quota, ages)})
		var wg sync.WaitGroup
		for range crowd {
			wg.Go(func() {
				for range each {
					if _, err := l.Allow(t.Context(), "key", 1); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		s.exactly(t, quota, "hot key")
		if calls := s.tally.calls(); calls != crowd*each {
			t.Errorf("%d decisions, want %d", calls, crowd*each)
		}
	})
}
