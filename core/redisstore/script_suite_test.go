package redisstore

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
)

func TestScriptsOnRedis(t *testing.T) {
	client := startRedis(t)
	storetest.Run(t, storetest.Harness{
		Name: "scripts on redis",
		Open: func(_ testing.TB, now func() time.Time) ratelimit.Store { return newScripts(client, now) },

		MaxLogQuota: 10_000,
	})
}

func TestScriptsOnMiniredis(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	client := startMiniredis(t)
	storetest.Run(t, storetest.Harness{
		Name: "scripts on miniredis",
		Open: func(_ testing.TB, now func() time.Time) ratelimit.Store { return newScripts(client, now) },

		MaxLogQuota: 10_000,
		Steps:       1_000,
	})
}
