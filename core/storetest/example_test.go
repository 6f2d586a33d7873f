package storetest_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
)

// A test of a store is one call. It belongs in a function like TestMine.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestMine(t *testing.T)
		storetest.Run(t, storetest.Harness{
			Name: "mine",
			Open: func(_ testing.TB, now func() time.Time) ratelimit.Store {
				return ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now})
			},
		})
	}
	// Output:
}
