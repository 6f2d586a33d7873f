package storetest_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
	"github.com/weirhq/ratelimit/core/storetest/internal/model"
)

// TestModel runs the suite on the model itself: what the checks want by hand must
// be what the model says.
func TestModel(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Name: "model",
		Open: func(_ testing.TB, now func() time.Time) ratelimit.Store { return model.New(now, 2_000) },

		MaxLogQuota: 2_000,
	})
}
