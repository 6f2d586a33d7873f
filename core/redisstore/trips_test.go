package redisstore

import (
	"fmt"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A decision is one script call, of one policy and of three on one key, admitted or
// denied.
func TestOneCallADecision(t *testing.T) {
	for _, policies := range []int{1, 3} {
		t.Run(fmt.Sprint(policies), func(t *testing.T) {
			server := redistest.Start(t)
			s := storeOf(t, single(t, server.Addr()), Config{Timeout: patience})
			charges := make([]ratelimit.Charge, policies)
			for i := range charges {
				charges[i] = policyOf(t, s, fmt.Sprint("p", i), ratelimit.PerHour(10)).charge("k", 1, ratelimit.Enforce)
			}
			take(t, s, charges...)
			server.ResetStats()
			const decisions = 20 // half of them denials
			for range decisions {
				take(t, s, charges...)
			}
			calls := server.Commands()
			for _, name := range []string{"eval", "script|load"} {
				if n := calls[name].Calls; n != 0 {
					t.Errorf("%d calls of %s", n, name)
				}
			}
			if n := calls["evalsha"].Calls; n != decisions {
				t.Errorf("%d calls of evalsha, want %d", n, decisions)
			}
			if got := s.Stats(); got.Decisions != decisions+1 || got.RoundTrips != decisions+2 || got.Loads != 1 || got.Split != 0 {
				t.Errorf("%+v, want the first decision's script loaded in a second trip, and one trip for each other", got)
			}
		})
	}
}

// Braces in a client's key cannot move it to another slot than that of the key's other
// policies.
func TestBracesInKeys(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	s := storeOf(t, clusterOf(t, cluster.Addrs()), Config{Timeout: patience, Prefix: "p:"})
	a, b := policyOf(t, s, "a", ratelimit.PerHour(10)), policyOf(t, s, "b", ratelimit.PerDay(10))
	for _, key := range []string{"{a}", "}{", "{}", "{}a{b}", "}", "{", "", "{a", "a\x00{b}\n"} {
		if r := take(t, s, a.charge(key, 1, ratelimit.Enforce), b.charge(key, 1, ratelimit.Enforce)); !admitted(r) || r[0].Used != 1 {
			t.Errorf("%q: %+v", key, r)
		}
	}
	if got := s.Stats(); got.Split != 0 {
		t.Errorf("%d Takes were split", got.Split)
	}
}
