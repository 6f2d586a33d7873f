package redisstore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// One caller cannot tell a cluster from memory: whatever slots the keys are in, Takes
// are admitted or denied as a whole, and denied ones leave no trace. (Where the clock
// steps back, or the limit changes, a charge that was given back does.)
func TestAcrossSlotsAsInMemory(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	client := clusterOf(t, cluster.Addrs())
	random := rand.New(rand.NewPCG(1, 2))
	givenBack := int64(0)
	for round := range 20 {
		now := time.UnixMicro(1_700_000_000_000_000 + random.Int64N(1e12))
		clock := func() time.Time { return now }
		memory := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock})
		redis := storeOf(t, client, Config{Prefix: fmt.Sprintf("round%d:", round), Now: clock, Timeout: patience})
		policies := make([]policy, 0, 7)
		for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
			limit := ratelimit.Per(1+random.Int64N(8), time.Duration(1+random.IntN(60))*time.Second).Using(a)
			p := policyOf(t, redis, "p"+fmt.Sprint(a), limit)
			if err := memory.Open(p.space); err != nil {
				t.Fatal(err)
			}
			policies = append(policies, p)
		}
		bans := ratelimit.NewPenaltySpace("bans", ratelimit.Penalty{Denials: 3, Within: time.Minute, Ban: 5 * time.Second, Factor: 2})
		for _, s := range []ratelimit.Store{memory, redis} {
			if err := s.Open(bans); err != nil {
				t.Fatal(err)
			}
		}
		for step := range 100 {
			charges := make([]ratelimit.Charge, 1+random.IntN(4))
			for i := range charges {
				key := fmt.Sprint("key", random.IntN(4))
				mode := []ratelimit.Mode{ratelimit.Enforce, ratelimit.Enforce, ratelimit.Observe, ratelimit.Force}[random.IntN(4)]
				charges[i] = policies[random.IntN(len(policies))].charge(key, random.Int64N(4), mode)
			}
			if random.IntN(2) == 0 {
				charges = append(charges, ratelimit.Charge{Space: bans, Key: fmt.Append(nil, "key", random.IntN(4)), Cost: random.Int64N(2), Mode: ratelimit.Strike})
			}
			got, want := take(t, redis, charges...), take(t, memory, charges...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d, step %d at %d: %s\n%+v", round, step, now.UnixMicro(), diff, charges)
			}
			now = now.Add(time.Duration(random.Int64N(3_000_000)) * time.Microsecond)
		}
		givenBack += redis.Stats().GiveBacks
	}
	if givenBack < 100 {
		t.Errorf("only %d Takes were given back", givenBack)
	}
}
