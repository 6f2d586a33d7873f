package redisstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// While a slot is being moved, some keys of a Take are on one node, some on the other,
// and new ones nowhere. Nobody notices.
func TestMovingSlot(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	s := storeOf(t, clusterOf(t, cluster.Addrs()), Config{Timeout: patience})
	limit := ratelimit.PerHour(1000)
	policies := make([]policy, 5)
	for i := range policies {
		policies[i] = policyOf(t, s, fmt.Sprint("p", i), limit)
	}
	total := int64(0)
	ask := func(of []policy) {
		charges := make([]ratelimit.Charge, len(of))
		for i, p := range of {
			charges[i] = p.charge("k", 1, ratelimit.Enforce)
		}
		total++
		r := take(t, s, charges...)
		for i := range r {
			if !r[i].Allowed {
				t.Errorf("%+v", r)
			}
		}
		if r[0].Used != total {
			t.Errorf("%d in use, want %d", r[0].Used, total)
		}
		refunds := make([]ratelimit.Adjustment, len(of)) // of all but the first
		for i, p := range of {
			refunds[i] = ratelimit.Adjustment{Op: ratelimit.Refund, Space: p.space, Key: []byte("k"), Limit: limit, Units: min(1, int64(i)), Receipt: r[i].Receipt}
		}
		if err := s.Adjust(t.Context(), refunds); err != nil {
			t.Error(err)
		}
	}
	ask(policies[:3]) // the others are new to the slot when it moves
	for range 3 {
		slot := redistest.KeySlot(tagged("k"))
		from := cluster.Owner(slot)
		cluster.MigrateSlot(slot, from, (from+1)%cluster.Nodes(), func() {
			ask(policies)
			ask(policies[:1])
		})
		ask(policies)
	}
	for _, p := range policies[1:] {
		if used := p.used(t, s, "k"); used != 0 {
			t.Errorf("%s: %d in use where all was given back", p.space.Policy, used)
		}
	}
	if s.Stats().Split == 0 {
		t.Error("no Take met keys that are apart")
	}
}

// A Spill cannot be decided apart from its charge. It waits until both keys are on one
// node, or for the time-out.
func TestMovingSlotSpill(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	s := storeOf(t, clusterOf(t, cluster.Addrs()), Config{Timeout: 300 * time.Millisecond})
	p, credits := policyOf(t, s, "p", ratelimit.PerHour(10)), policyOf(t, s, "credits", ratelimit.PerHour(100))
	charges := func(cost int64) []ratelimit.Charge {
		return []ratelimit.Charge{p.charge("k", cost, ratelimit.Enforce), credits.charge("k", 0, ratelimit.Spill)}
	}
	take(t, s, p.charge("k", 1, ratelimit.Enforce))
	slot := redistest.KeySlot(tagged("k"))
	from := cluster.Owner(slot)
	asked := false
	cluster.MigrateSlot(slot, from, (from+1)%cluster.Nodes(), func() {
		if asked {
			return
		}
		asked = true
		if err := s.Take(t.Context(), charges(12), make([]ratelimit.Result, 2)); err == nil || errors.Is(err, ratelimit.ErrMisuse) {
			t.Errorf("while the keys are apart: %v, want that it cannot be decided", err)
		}
	})
	if r := take(t, s, charges(12)...); r[0].Used != 10 || r[1].Used != 3 { // nothing was charged meanwhile
		t.Errorf("%+v, want 10 and 3 in use", r)
	}
}

// A server that starts, or steps down, refuses calls for a while. They did not run.
func TestRefusedForAWhile(t *testing.T) {
	server, other := redistest.Start(t), redistest.Start(t)
	s := storeOf(t, single(t, server.Addr()), Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	take(t, s, p.charge("k", 1, ratelimit.Enforce))
	if _, err := server.Do("REPLICAOF", "127.0.0.1", other.Addr()[len("127.0.0.1:"):]); err != nil {
		t.Fatal(err)
	}
	back := time.AfterFunc(200*time.Millisecond, func() {
		if _, err := server.Do("REPLICAOF", "NO", "ONE"); err != nil {
			t.Error(err)
		}
	})
	defer back.Stop()
	if r := take(t, s, p.charge("other", 1, ratelimit.Enforce)); !r[0].Allowed || r[0].Used != 1 {
		t.Errorf("%+v", r)
	}
}
