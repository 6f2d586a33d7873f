package redisstore_test

import (
	"strings"
	"testing"

	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

func clusterURL(c *redistest.Cluster) string {
	addrs := c.Addrs()
	return "redis+cluster://" + addrs[0] + "?addr=" + strings.Join(addrs[1:], "&addr=")
}

// slotOf returns the slot of a limiter's key, which it finds among those stored.
func slotOf(t *testing.T, cluster *redistest.Cluster, key string) int {
	t.Helper()
	for i := range cluster.Nodes() {
		found, err := cluster.Node(i).Do("KEYS", "*="+key)
		stored, _ := found.([]any)
		if err != nil {
			continue // it is down
		}
		if len(stored) > 0 {
			return redistest.KeySlot(stored[0].(string))
		}
	}
	t.Fatalf("no node knows the key %q", key)
	return 0
}
