package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// fresh returns a function that makes stores which share a client and nothing else.
func fresh(client redis.UniversalClient) func(testing.TB, func() time.Time) ratelimit.Store {
	made := 0
	return func(t testing.TB, now func() time.Time) ratelimit.Store {
		made++
		return storeOf(t, client, Config{Prefix: fmt.Sprintf("rl%d:", made), Now: now, Timeout: time.Minute})
	}
}

// storeOf returns a store that ends with the test.
func storeOf(t testing.TB, client redis.UniversalClient, config Config) *Store {
	t.Helper()
	s, err := New(client, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSuite(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Name: "redis", MaxLogQuota: maxEntries, Steps: 2000,
		Open: fresh(single(t, redistest.Start(t).Addr())),
	})
}

func TestSuiteCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	storetest.Run(t, storetest.Harness{
		Name: "redis cluster", MaxLogQuota: maxEntries, Steps: 2000,
		Lacks: storetest.Lacks{AcrossSlots: true},
		Open:  fresh(clusterOf(t, cluster.Addrs())),
	})
}
