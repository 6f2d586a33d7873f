package stacktest_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A master is replaced by its replica, which may lack what was charged last. So a
// fail-over admits at most one more quota, and in fact a few units.
func TestTroubleFailover(t *testing.T) {
	trouble(t)
	sentinel := redistest.StartSentinel(t)
	url := "redis+sentinel://" + sentinel.Addrs()[0] + "?master_name=" + sentinel.MasterName() +
		"&addr=" + strings.Join(sentinel.Addrs()[1:], "&addr=")
	stacks(t, url, 0, func(t *testing.T, s *stack) {
		s.failOver(t, func(string) (old *redistest.Server) {
			old = sentinel.Master()
			sentinel.Failover()
			return old
		})
	})
}

func TestTroubleFailoverCluster(t *testing.T) {
	trouble(t)
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{Replicas: 1})
	stacks(t, clusterURL(cluster), 0, func(t *testing.T, s *stack) {
		s.failOver(t, func(key string) (old *redistest.Server) {
			slot := slotOf(t, cluster, key)
			old = cluster.Node(cluster.Owner(slot))
			cluster.Failover(slot)
			return old
		})
	})
}

// failOver runs callers for one key after another, and makes the server that holds
// it fail while it charges. fail returns the old master when there is a new one.
func (s *stack) failOver(t *testing.T, fail func(key string) *redistest.Server) {
	const quota = 1000
	for i, end := 0, time.Now().Add(*troubleLasts); time.Now().Before(end); i++ {
		c := newCrowd(t, s, "hot"+strconv.Itoa(i))
		open := c.with(ratelimit.Policy{Name: "open", Limit: ratelimit.Per(quota, ages)})
		closed := c.with(ratelimit.Policy{
			Name: "closed", Limit: ratelimit.Per(quota, ages).Using(ratelimit.SlidingLog), OnFailure: ratelimit.FailClosed,
		})
		c.start(c.allow(open, false), c.serve(open, false), c.allow(closed, true), c.serve(closed, true))
		c.until("some to be charged", func() bool { return c.used(open, c.key) >= quota/4 })

		old := fail(c.key)
		c.untilReached(time.Now())
		old.Restart()
		c.until("the old master to be a replica", func() bool {
			info, _ := old.Do("INFO", "replication")
			text, _ := info.(string)
			return strings.Contains(text, "master_link_status:up")
		})
		c.untilUsed(open, c.key, quota)
		c.untilUsed(closed, c.key, quota)
		c.stop()

		for _, policy := range []string{"open", "closed"} {
			got, least := s.tally.admitted(policy+" "+c.key), quota-s.tally.mayHaveCharged()
			t.Logf("%s: %d admitted of a quota of %d", policy, got, quota)
			if got < least || got > 2*quota {
				t.Errorf("%s: %d admitted, want %d to %d", policy, got, least, 2*quota)
			}
		}
	}
}
