package ratelimit_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// The zero Memory is that of a zero MemoryConfig.
func TestZeroMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var zero ratelimit.Memory
		if s := zero.Stats(); s != (ratelimit.MemoryStats{}) {
			t.Errorf("%+v before anything was opened", s)
		}
		stores := []*ratelimit.Memory{&zero, ratelimit.NewMemory(ratelimit.MemoryConfig{})}
		for a := range ratelimit.Algorithm(6) {
			var limiters []*ratelimit.Limiter
			for _, store := range stores {
				limiters = append(limiters, ratelimit.Must(ratelimit.Config{
					Store: store, Policies: []ratelimit.Policy{pol("api", ratelimit.PerMinute(2).Using(a))},
				}))
			}
			for i, wait := range []time.Duration{0, time.Second, time.Second, time.Second, time.Minute, 0} {
				time.Sleep(wait)
				var told []string
				for _, limits := range limiters {
					d, err := limits.Allow(t.Context(), "ann", 1)
					if err != nil {
						t.Fatal(err)
					}
					told = append(told, tells(d))
				}
				if told[0] != told[1] {
					t.Errorf("%v, %d: the zero Memory tells\n%s\nwant\n%s", a, i, told[0], told[1])
				}
			}
		}
	})
}

// The zero Memory holds as many keys as one does by default.
func TestZeroMemoryHoldsMany(t *testing.T) {
	var zero ratelimit.Memory
	limits := ratelimit.Must(ratelimit.Config{Store: &zero, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(5))}})
	const keys = 20_000
	for i := range keys {
		limits.Allow(t.Context(), strconv.Itoa(i), 1)
	}
	if s := zero.Stats(); s.Keys != keys || s.Evictions != 0 {
		t.Errorf("%+v, want %d keys", s, keys)
	}
}
