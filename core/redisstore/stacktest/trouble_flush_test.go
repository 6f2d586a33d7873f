package stacktest_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A server that forgets the scripts again and again fails nobody, and no charge is
// lost or made twice.
func TestTroubleScriptFlush(t *testing.T) {
	trouble(t)
	server := redistest.Start(t)
	stacks(t, server.URL(), enough, func(t *testing.T, s *stack) { s.flush(t, server) })
}

func TestTroubleScriptFlushCluster(t *testing.T) {
	trouble(t)
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	stacks(t, clusterURL(cluster), enough, func(t *testing.T, s *stack) {
		s.flush(t, cluster.Node(0), cluster.Node(1), cluster.Node(2))
	})
}

func (s *stack) flush(t *testing.T, servers ...*redistest.Server) {
	quota := quotaOfTheTrouble()
	c := newCrowd(t, s, "hot")
	open := c.with(ratelimit.Policy{Name: "open", Limit: ratelimit.Per(quota, ages)})
	closed := c.with(ratelimit.Policy{
		Name: "closed", Limit: ratelimit.Per(quota, ages).Using(ratelimit.GCRA), OnFailure: ratelimit.FailClosed,
	})
	c.start(c.allow(open, false), c.serve(open, false), c.allow(closed, true), c.serve(closed, true))
	flushes := 0
	for end := time.Now().Add(*troubleLasts); time.Now().Before(end); flushes++ {
		for _, server := range servers {
			if _, err := server.Do("SCRIPT", "FLUSH", "SYNC"); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.untilUsed(open, c.key, quota)
	c.untilUsed(closed, c.key, quota)
	c.stop()
	t.Logf("%d flushes", flushes)
	s.exactly(t, quota, "open "+c.key, "closed "+c.key)
}
