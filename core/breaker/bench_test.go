package breaker_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

// What a breaker adds to a store in memory, and what a refusal costs.
func BenchmarkTake(b *testing.B) {
	closed := newBench(b, breaker.Config{Timeout: time.Minute})
	open := newBench(b, breaker.Config{OpenFor: 1 << 62, Failures: 1})
	open.backend.does(down)
	open.take(b.Context())
	for _, of := range []struct {
		name  string
		store ratelimit.Store
		bench *bench
	}{
		{"memory", closed.backend.Memory, closed},
		{"closed", closed.Store, closed},
		{"open", open.Store, open},
	} {
		charges, results := []ratelimit.Charge{of.bench.charge(1)}, make([]ratelimit.Result, 1)
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				of.store.Take(b.Context(), charges, results)
			}
		})
		b.Run(of.name+", parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				results := make([]ratelimit.Result, 1)
				for pb.Next() {
					of.store.Take(b.Context(), charges, results)
				}
			})
		})
	}
}
