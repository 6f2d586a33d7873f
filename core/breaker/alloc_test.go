// The race detector makes pools forget at random.

//go:build !race

package breaker_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

// An open breaker allocates nothing and starts nothing; a closed one allocates the
// context that the store may keep, and its timer.
func TestAllocations(t *testing.T) {
	ctx, results := t.Context(), make([]ratelimit.Result, 3)
	for _, test := range []struct {
		name string
		open bool
		want float64
	}{{"open", true, 0}, {"closed", false, 6}} {
		config := breaker.Config{Timeout: time.Minute, OpenFor: time.Hour, Failures: 1}
		b := newBench(t, config)
		var want error
		if test.open {
			want = breaker.ErrOpen
			b.backend.does(down)
			b.take(ctx)
			b.in(breaker.Open)
		}
		charges := []ratelimit.Charge{b.charge(1), b.charge(1), b.charge(1)}
		adjustments := []ratelimit.Adjustment{{Op: ratelimit.Extra, Space: b.space, Key: []byte("ann"), Limit: b.limit, Units: 1}}
		goroutines := runtime.NumGoroutine()
		for call, f := range map[string]func() error{
			"Take":   func() error { return b.Take(ctx, charges, results) },
			"Adjust": func() error { return b.Adjust(ctx, adjustments) },
		} {
			if got := testing.AllocsPerRun(500, func() {
				if err := f(); !errors.Is(err, want) {
					t.Fatalf("%v, want %v", err, want)
				}
				if n := runtime.NumGoroutine(); test.open && n > goroutines {
					t.Fatalf("%d goroutines, want %d", n, goroutines)
				}
			}); got > test.want {
				t.Errorf("%s, %s: %v allocations, want %v", call, test.name, got, test.want)
			}
		}
	}
}
