package stacktest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

func TestStackOnCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	t.Run("keys of one client share a slot", func(t *testing.T) { keysShareASlot(t, cluster) })
	t.Run("a denial charges no other node", func(t *testing.T) { denialChargesNoOther(t, cluster) })
}

// keysShareASlot has clients whose keys try to set the states of their policies apart, or
// to gather those of many clients on one node. The cluster is empty.
func keysShareASlot(t *testing.T, cluster *redistest.Cluster) {
	i := newInstance(t, clusterURL(cluster), layers{timeout: enough})
	const quota = 50
	l := i.limiter(t,
		ratelimit.Policy{Name: "a", Limit: ratelimit.Per(quota, ages)},
		ratelimit.Policy{Name: "b", Limit: ratelimit.Per(quota+1, ages).Using(ratelimit.SlidingLog)},
		ratelimit.Policy{Name: "c", Limit: ratelimit.Per(quota+2, ages).Using(ratelimit.GCRA)},
	)
	keys := []string{"", "{", "}", "{}", "}{", "{a}", "{}a{b}", "a\x00{b}\n", "\r\n{0000}", "\x00", "%7Ba%7D", strings.Repeat("{", 1000)}
	for n := range 40 {
		keys = append(keys, fmt.Sprintf("{one}%d", n))
	}
	for n, key := range keys {
		calls := 1
		if n < 12 || n%20 == 0 {
			calls = quota + 10
		}
		admitted := 0
		for range calls {
			if allow(t, l, key, 1).Outcome == ratelimit.Allowed {
				admitted++
			}
		}
		if want := min(calls, quota); admitted != want {
			t.Errorf("%q: %d of %d calls admitted, want %d", key, admitted, calls, want)
		}
	}
	if got := i.redis.Stats(); got.Split > 0 {
		t.Errorf("%d Takes were split", got.Split)
	}

	slots, nodes, states := map[int64]int{}, 0, 0 // states in each slot, as the servers count them
	for n := range cluster.Nodes() {
		held := stored(t, cluster.Node(n))
		if len(held) > 0 {
			nodes++
		}
		states += len(held)
		for _, key := range held {
			slot, err := cluster.Node(n).Do("CLUSTER", "KEYSLOT", key)
			if err != nil {
				t.Fatal(err)
			}
			slots[slot.(int64)]++
		}
	}
	if states != 3*len(keys) || nodes != cluster.Nodes() || len(slots) < len(keys)*9/10 {
		t.Errorf("%d states in %d slots on %d nodes, want %d in about %d on all", states, len(slots), nodes, 3*len(keys), len(keys))
	}
	for slot, n := range slots {
		if n%3 != 0 {
			t.Errorf("slot %d holds %d states, not all of a client's", slot, n)
		}
	}
}

// onTwoNodes returns keys that two nodes of a cluster hold.
func (s *stack) onTwoNodes(t *testing.T, cluster *redistest.Cluster) (string, string) {
	t.Helper()
	l := s.limiter(t, ratelimit.Policy{Name: "probe", Limit: ratelimit.PerHour(10)})
	owner := func(key string) int {
		allow(t, l, key, 1)
		return cluster.Owner(slotOf(t, cluster, key))
	}
	here := owner("key")
	for i := range 100 {
		if key := "key" + strconv.Itoa(i); owner(key) != here {
			return "key", key
		}
	}
	t.Fatal("one node holds 100 keys")
	return "", ""
}

// denialChargesNoOther has what one policy denies where the other's key is on another node.
func denialChargesNoOther(t *testing.T, cluster *redistest.Cluster) {
	stacks(t, clusterURL(cluster), enough, func(t *testing.T, s *stack) {
		here, there := s.onTwoNodes(t, cluster)
		roomAndFull(func(policies ...ratelimit.Policy) {
			a := ratelimit.Ask{Policy: policies[0].Name, Key: here}
			b := ratelimit.Ask{Policy: policies[1].Name, Key: there}
			l, admitted := s.limiter(t, policies...), 0
			for range 102 {
				ticket, err := l.Acquire(t.Context(), a, b)
				if err != nil {
					t.Fatal(err)
				}
				switch d := ticket.Decision(); ticket.Outcome() {
				case ratelimit.Allowed:
					admitted++
				case ratelimit.Denied:
					if d.Policy != "full" {
						t.Errorf("%+v, want it denied by the full one", d)
					}
				default:
					t.Errorf("%+v", d)
				}
				ticket.End(0, nil)
			}
			if admitted != 2 {
				t.Errorf("%s first: %d admitted, want 2", policies[0].Name, admitted)
			}
			s.inUse(t, policies[0], here, 2)
			s.inUse(t, policies[1], there, 2)
		})
	})
}
