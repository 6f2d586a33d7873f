package stacktest_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A slot that moves from node to node and back fails nobody, and no charge is lost or
// made twice: of one policy; of three on one key, whose states are on both nodes for a
// while; and of two on keys in two slots.
func TestTroubleMigration(t *testing.T) {
	trouble(t)
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	stacks(t, clusterURL(cluster), enough, func(t *testing.T, s *stack) {
		quota := quotaOfTheTrouble()
		c := newCrowd(t, s, "hot")
		policy := func(name string, quota int64, algorithm ratelimit.Algorithm) ratelimit.Policy {
			return ratelimit.Policy{Name: name, Limit: ratelimit.Per(quota, ages).Using(algorithm), OnFailure: ratelimit.FailClosed}
		}
		one := c.with(policy("one", quota, ratelimit.TokenBucket))
		three := []ratelimit.Policy{
			policy("a", quota, ratelimit.GCRA), policy("b", quota+100, ratelimit.SlidingLog), policy("c", quota+200, ratelimit.TokenBucket),
		}
		two := []ratelimit.Policy{policy("here", quota+100, ratelimit.TokenBucket), policy("there", quota, ratelimit.TokenBucket)}
		all, both := c.with(three...), c.with(two...)
		c.start(c.allow(one, true), c.allow(all, true), c.serve(all, true), c.acquire(both, true,
			ratelimit.Ask{Policy: "here", Key: c.key}, ratelimit.Ask{Policy: "there", Key: "other"}))

		c.until("a charge", func() bool { return c.used(one, c.key) > 0 })
		slot, moves := slotOf(t, cluster, c.key), 0
		traffic := func() {
			seen := s.tally.calls()
			c.until("calls between two steps", func() bool { return s.tally.calls() >= seen+callers })
		}
		for end := time.Now().Add(*troubleLasts); time.Now().Before(end); moves++ {
			from := cluster.Owner(slot)
			cluster.MigrateSlot(slot, from, (from+1)%cluster.Nodes(), traffic)
		}
		c.untilUsed(one, c.key, quota)
		c.untilUsed(c.with(three[0]), c.key, quota)
		c.untilUsed(c.with(two[1]), "other", quota)
		c.stop()
		t.Logf("%d moves", moves)
		s.exactly(t, quota, "one hot", "a hot", "b hot", "c hot", "here hot", "there other")

		// What was charged by Takes that were then denied has been given back.
		for _, p := range append(three, two[0]) {
			if got := c.used(c.with(p), c.key); got != quota {
				t.Errorf("%s: %d in use, want %d", p.Name, got, quota)
			}
		}
	})
}
