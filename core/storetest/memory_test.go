package storetest_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Name: "memory",
		Open: func(_ testing.TB, now func() time.Time) ratelimit.Store {
			return ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now})
		},
	})
}
