package redisstore

import (
	"flag"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

var mini = flag.Bool("redisstore.mini", false, "run the suite on miniredis too, where there is a real server")

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

// suite runs the suite of all stores, each on keys of its own.
func suite(t *testing.T, client redis.UniversalClient, h storetest.Harness) {
	h.MaxLogQuota = maxEntries
	h.Open = func(t testing.TB, now func() time.Time) ratelimit.Store { return storeOn(t, client, now) }
	storetest.Run(t, h)
}

func TestSuite(t *testing.T) {
	server := redistest.Start(t)
	t.Logf("on a real server, version %s", server.Version())
	suite(t, single(t, server.Addr()), storetest.Harness{Name: "redis", Steps: 6400})
}

func TestSuiteOnCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	suite(t, clusterOf(t, cluster.Addrs()), storetest.Harness{
		Name: "redis cluster", Steps: 640, Lacks: storetest.Lacks{AcrossSlots: true},
	})
}

// Where there is no real server, miniredis stands in for one.
func TestSuiteOnMiniredis(t *testing.T) {
	if redistest.Available() && !*mini {
		t.Skip("there is a real server: -redisstore.mini runs it all the same")
	}
	t.Log("on miniredis")
	suite(t, startMiniredis(t), storetest.Harness{Name: "miniredis", Steps: 640})
}
