package storetest_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
)

var (
	steps = flag.Int("storetest.steps", 0, "random steps a family of limits; 0: as by default")
	seed  = flag.Uint64("storetest.seed", 1, "seed of the random traces; 0 picks one")
)

func TestMemory(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	storetest.Run(t, storetest.Harness{
		Name: "memory",
		Open: func(_ testing.TB, now func() time.Time) ratelimit.Store {
			return ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now})
		},
		Steps: *steps, Seed: *seed,
	})
}
