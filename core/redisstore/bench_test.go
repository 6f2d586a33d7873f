package redisstore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// tokens returns charges of one unit on a key, each of a policy of its own.
func tokens(t testing.TB, s ratelimit.Store, key string, policies int) []ratelimit.Charge {
	t.Helper()
	charges := make([]ratelimit.Charge, policies)
	for i := range charges {
		limit := ratelimit.PerMinute(1 << 30)
		space := ratelimit.NewSpace(fmt.Sprintf("p%d", i), limit)
		if err := s.Open(space); err != nil {
			t.Fatal(err)
		}
		charges[i] = ratelimit.Charge{Space: space, Key: []byte(key), Limit: limit, Cost: 1}
	}
	return charges
}

// Callers ask as fast as they get answers. Where many do, what they need is shared.
func BenchmarkTake(b *testing.B) {
	for _, policies := range []int{1, 3} {
		for _, callers := range []int{1, 32} {
			b.Run(fmt.Sprintf("policies=%d/callers=%d", policies, callers), func(b *testing.B) {
				server := redistest.Start(b)
				benchmarkTake(b, server.Addr(), policies, callers)
			})
		}
	}
}

// The same on a network whose round trip takes some milliseconds.
func BenchmarkTakeFar(b *testing.B) {
	for _, callers := range []int{1, 4, 32, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			proxy := redistest.NewProxy(b, redistest.Start(b).Addr())
			proxy.Delay(2*time.Millisecond, 2*time.Millisecond)
			benchmarkTake(b, proxy.Addr(), 1, callers)
		})
	}
}

func benchmarkTake(b *testing.B, addr string, policies, callers int) {
	s := storeOf(b, single(b, addr), Config{Timeout: patience})
	var todo atomic.Int64
	todo.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for caller := range callers {
		charges := tokens(b, s, fmt.Sprint("key", caller), policies)
		results := make([]ratelimit.Result, policies)
		wg.Go(func() {
			for todo.Add(-1) >= 0 {
				if err := s.Take(b.Context(), charges, results); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(s.Stats().RoundTrips)/float64(s.Stats().Decisions), "trips/op")
	b.ReportMetric(float64(callers)*float64(b.Elapsed().Microseconds())/float64(b.N), "µs/call")
}
