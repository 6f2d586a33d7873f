package redisstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// across is a cluster, a store on it, and three keys on three nodes.
type across struct {
	*Store
	cluster *redistest.Cluster
	seen    *recorder
	a, b, c string
}

func startAcross(t *testing.T) across {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{Args: []string{"--cluster-require-full-coverage", "no"}})
	seen := new(recorder)
	s := storeOf(t, clusterOf(t, cluster.Addrs()), Config{Timeout: patience, Observer: seen})
	keys := apart(t, cluster, 3)
	return across{s, cluster, seen, keys[0], keys[1], keys[2]}
}

// A Take whose keys are on three nodes is made by all or by none. Once nothing was
// charged that a denial has to give back, the numbers are the untouched ones.
func TestAcrossSlots(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	ask := func(a, b, c int64) []ratelimit.Result {
		return take(t, s, p.charge(s.a, a, ratelimit.Enforce), p.charge(s.b, b, ratelimit.Enforce), p.charge(s.c, c, ratelimit.Enforce))
	}
	for _, step := range []struct {
		a, b, c                   int64
		allowedA, allowedB, allow bool
		usedA, usedB, usedC       int64
	}{
		{1, 2, 3, true, true, true, 1, 2, 3},
		{1, 9, 1, true, false, true, 1, 2, 3},
		{10, 9, 1, false, false, true, 1, 2, 3},
		{9, 8, 7, true, true, true, 10, 10, 10},
		{0, 0, 0, true, true, true, 10, 10, 10},
		{0, 1, 0, true, false, true, 10, 10, 10},
	} {
		r := ask(step.a, step.b, step.c)
		if r[0].Allowed != step.allowedA || r[1].Allowed != step.allowedB || r[2].Allowed != step.allow ||
			r[0].Used != step.usedA || r[1].Used != step.usedB || r[2].Used != step.usedC {
			t.Errorf("%d, %d and %d:\n%+v", step.a, step.b, step.c, r)
		}
		for i, key := range []string{s.a, s.b, s.c} {
			if used := p.used(t, s, key); used != r[i].Used {
				t.Errorf("%d, %d and %d: told that %d are in use of %s, in fact %d", step.a, step.b, step.c, r[i].Used, key, used)
			}
		}
	}
	if got := s.Stats(); got.Split != 6 || got.GiveBacks != 2 {
		t.Errorf("%d Takes were split and %d given back, want 6 and 2", got.Split, got.GiveBacks)
	}
}

// What never denies is given back as well.
func TestAcrossSlotsModes(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	take(t, s, p.charge(s.c, 10, ratelimit.Enforce))
	r := take(t, s, p.charge(s.a, 3, ratelimit.Observe), p.charge(s.b, 12, ratelimit.Force), p.charge(s.c, 1, ratelimit.Enforce))
	if !r[0].Allowed || r[1].Allowed || r[2].Allowed || r[0].Used != 0 || r[1].Used != 0 || r[0].Receipt.Units != 0 || r[1].Receipt.Units != 0 {
		t.Errorf("%+v", r)
	}
	if a, b := p.used(t, s, s.a), p.used(t, s, s.b); a != 0 || b != 0 {
		t.Errorf("%d and %d in use", a, b)
	}
}

// A strike counts one for a Take that another slot denied; a ban gives back what other
// slots charged, and does not count.
func TestAcrossSlotsStrikes(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	penalty := func(name string) *ratelimit.Space {
		space := ratelimit.NewPenaltySpace(name, ratelimit.Penalty{Denials: 2, Within: time.Hour, Ban: time.Hour})
		if err := s.Open(space); err != nil {
			t.Fatal(err)
		}
		return space
	}
	bans, others := penalty("bans"), penalty("others")
	strike := func(space *ratelimit.Space, key string, cost int64) ratelimit.Charge {
		return ratelimit.Charge{Space: space, Key: []byte(key), Cost: cost, Mode: ratelimit.Strike}
	}
	ask := func(cost int64) []ratelimit.Result {
		return take(t, s, p.charge(s.a, cost, ratelimit.Enforce), strike(bans, s.b, 1), p.charge(s.c, 1, ratelimit.Enforce), strike(others, s.c, 1))
	}
	if r := ask(1); !admitted(r) {
		t.Errorf("admitted: %+v", r)
	}
	if r := ask(11); r[0].Allowed || !r[1].Allowed || r[1].Used != 1 || r[2].Used != 1 || r[3].Used != 1 {
		t.Errorf("the first denial: %+v", r)
	}
	if r := ask(0); !admitted(r) || r[1].Used != 1 {
		t.Errorf("a look: %+v", r)
	}
	// The others' strike is made at the same time, and bans as well.
	if r := ask(11); r[0].Allowed || r[1].Allowed || r[1].RetryAfter <= 0 || r[3].Allowed {
		t.Errorf("the second denial, which bans: %+v", r)
	}
	if err := s.Adjust(t.Context(), []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: others, Key: []byte(s.c)}}); err != nil {
		t.Fatal(err)
	}
	r := ask(1)
	if r[1].Allowed || !r[0].Allowed || r[0].Used != 1 || !r[3].Allowed || r[3].Used != 0 {
		t.Errorf("banned: %+v", r)
	}
	if a, c := p.used(t, s, s.a), p.used(t, s, s.c); a != 1 || c != 2 {
		t.Errorf("%d and %d in use, want 1 and 2", a, c)
	}
}

// A Spill depends on the charge before it, so both have to be in one slot.
func TestAcrossSlotsSpill(t *testing.T) {
	s := startAcross(t)
	p, credits := policyOf(t, s, "p", ratelimit.PerHour(10)), policyOf(t, s, "credits", ratelimit.PerDay(100))
	r := take(t, s, p.charge(s.a, 15, ratelimit.Enforce), credits.charge(s.a, 0, ratelimit.Spill), p.charge(s.b, 1, ratelimit.Enforce))
	if !admitted(r) || r[0].Receipt.Units != 10 || r[1].Receipt.Units != 5 {
		t.Errorf("%+v", r)
	}
	charges := []ratelimit.Charge{p.charge(s.a, 15, ratelimit.Enforce), credits.charge(s.b, 0, ratelimit.Spill)}
	if err := s.Take(t.Context(), charges, make([]ratelimit.Result, 2)); !errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("a spill into another slot: %v, want ErrMisuse", err)
	}
	r = take(t, s, p.charge(s.a, 15, ratelimit.Enforce), credits.charge(s.a, 0, ratelimit.Spill), p.charge(s.b, 10, ratelimit.Enforce))
	if r[2].Allowed || r[0].Used != 10 || r[1].Used != 5 {
		t.Errorf("denied by another slot: %+v", r)
	}
}

// Adjustments on three nodes are made in one call; those of one key in their order.
func TestAcrossSlotsAdjust(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10).Using(ratelimit.FixedWindow))
	r := take(t, s, p.charge(s.a, 5, ratelimit.Enforce), p.charge(s.b, 5, ratelimit.Enforce), p.charge(s.c, 5, ratelimit.Enforce))
	adjust := func(op ratelimit.Op, key string, units int64, receipt ratelimit.Receipt) ratelimit.Adjustment {
		return ratelimit.Adjustment{Op: op, Space: p.space, Key: []byte(key), Limit: p.limit, Units: units, Receipt: receipt}
	}
	adjustments := []ratelimit.Adjustment{
		adjust(ratelimit.Refund, s.a, 2, r[0].Receipt), adjust(ratelimit.Reset, s.b, 0, ratelimit.Receipt{}),
		adjust(ratelimit.Extra, s.c, 4, ratelimit.Receipt{}), adjust(ratelimit.Extra, s.b, 1, ratelimit.Receipt{}),
	}
	if err := s.Adjust(t.Context(), adjustments); err != nil {
		t.Fatal(err)
	}
	var units []int64
	for _, a := range adjustments {
		units = append(units, a.Receipt.Units)
	}
	if diff := cmp.Diff([]int64{3, 0, 4, 1}, units); diff != "" {
		t.Error("receipts", diff)
	}
	if used := []int64{p.used(t, s, s.a), p.used(t, s, s.b), p.used(t, s, s.c)}; cmp.Diff([]int64{3, 1, 9}, used) != "" {
		t.Errorf("%d in use, want 3, 1 and 9", used)
	}

	s.cluster.Node(ownerOf(s.cluster, s.b)).Kill()
	adjustments = []ratelimit.Adjustment{adjust(ratelimit.Extra, s.a, 1, ratelimit.Receipt{}), adjust(ratelimit.Extra, s.b, 1, ratelimit.Receipt{})}
	if err := s.Adjust(t.Context(), adjustments); err == nil {
		t.Error("no error where a node is down")
	}
	if used := p.used(t, s, s.a); used != 4 || adjustments[0].Receipt.Units != 1 {
		t.Errorf("%d in use, want 4, and the receipt: %+v", used, adjustments[0].Receipt)
	}
}

// A plain client that talks to one node, which has all slots, finds out by itself.
func TestPlainClientOnCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{Masters: 1})
	s := storeOf(t, single(t, cluster.Addrs()[0]), Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	for want := int64(1); want <= 3; want++ {
		for _, r := range take(t, s, p.charge("a", 1, ratelimit.Enforce), p.charge("b", 1, ratelimit.Enforce)) {
			if r.Used != want {
				t.Errorf("%d in use, want %d", r.Used, want)
			}
		}
	}
	if got := s.Stats(); got.Split != 3 {
		t.Errorf("%d Takes were split, want 3", got.Split)
	}
}

// The shards of a Ring are servers that know nothing of each other.
func TestAcrossShards(t *testing.T) {
	r := rigs["ring"](t)
	s := storeOf(t, r.client, Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	here, there := "key0", ""
	for i := 1; there == ""; i++ {
		if key := fmt.Sprint("key", i); r.proxy(key) != r.proxy(here) {
			there = key
		}
	}
	if res := take(t, s, p.charge(here, 6, ratelimit.Enforce), p.charge(there, 3, ratelimit.Enforce)); !admitted(res) {
		t.Errorf("%+v", res)
	}
	if res := take(t, s, p.charge(here, 6, ratelimit.Enforce), p.charge(there, 3, ratelimit.Enforce)); res[0].Allowed || !res[1].Allowed || res[1].Used != 3 {
		t.Errorf("%+v", res)
	}
	if used := p.used(t, s, there); used != 3 {
		t.Errorf("%d in use, want 3", used)
	}
}
