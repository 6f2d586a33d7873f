package redisstore

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Long logs are written in place, and shortened now and then: what they answer is what a
// store in memory does.
func TestLongLogsAgreeWithMemory(t *testing.T) {
	client := startRedis(t)
	const quota = maxEntries
	for name, space := range map[string]*ratelimit.Space{
		"log":    ratelimit.NewSpace("policy", ratelimit.Per(quota, 10*time.Second).Using(ratelimit.SlidingLog)),
		"leases": ratelimit.NewLeaseSpace("policy", ratelimit.Per(quota, 10*time.Second).Using(ratelimit.SlidingLog)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubject(t, client, space, true)
			memory := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: func() time.Time { return s.now }})
			if err := memory.Open(space); err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			var receipts []ratelimit.Receipt
			longest := int64(0)
			both := func(step int, do func(store ratelimit.Store) (any, error)) any {
				want, err := do(memory)
				if err != nil {
					t.Fatal(err)
				}
				got, err := do(s)
				if err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("step %d: want memory's answer, got a difference:\n%s", step, diff)
				}
				return got
			}
			for step := range 25_000 {
				switch kind := random.IntN(5000); {
				case kind < 1:
					s.now = s.now.Add(time.Duration(random.Int64N(int64(12 * time.Second)))).Truncate(time.Microsecond)
				case kind < 100:
					s.now = s.now.Add(-time.Duration(random.IntN(3000)) * time.Microsecond)
				case kind < 4750:
					s.now = s.now.Add(time.Duration(random.IntN(1500)) * time.Microsecond)
				}
				if kind := random.IntN(20); kind == 0 && len(receipts) > 0 {
					op, i := ratelimit.Refund, random.IntN(len(receipts))
					if space.Lease && random.IntN(2) == 0 {
						op = ratelimit.Renew
					}
					receipts[i] = both(step, func(store ratelimit.Store) (any, error) {
						a := []ratelimit.Adjustment{{Op: op, Space: space, Key: []byte("key"), Limit: s.limit, Units: 1, Receipt: receipts[i]}}
						err := store.Adjust(t.Context(), a)
						return a[0].Receipt, err
					}).(ratelimit.Receipt)
				}
				r := both(step, func(store ratelimit.Store) (any, error) {
					r := make([]ratelimit.Result, 1)
					err := store.Take(t.Context(), []ratelimit.Charge{s.charge(int64(1+step%3/2), ratelimit.Enforce)}, r)
					return r[0], err
				}).(ratelimit.Result)
				longest = max(longest, r.Used)
				if r.Receipt.Units > 0 {
					receipts = append(receipts, r.Receipt)
				}
			}
			if longest < quota {
				t.Fatalf("want logs of up to %d units, got %d", quota, longest)
			}
		})
	}
}

// A log at its most entries takes what is forced on it in the newest one.
func TestFullLogJoinsTheNewestEntry(t *testing.T) {
	s := newSubject(t, startRedis(t), ratelimit.NewSpace("policy", ratelimit.Per(maxEntries, time.Hour).Using(ratelimit.SlidingLog)), true)
	for range maxEntries {
		s.take(s.charge(1, ratelimit.Enforce))
		s.now = s.now.Add(time.Microsecond)
	}
	newest := s.now.UnixMicro() - 1
	key := s.keys()[0]
	s.client.Persist(s.Context(), key)
	s.now = s.now.Add(time.Second)
	r := s.take(s.charge(5, ratelimit.Force))[0]
	if r.Allowed || r.Used != maxEntries+5 || r.Receipt.At != newest || r.Receipt.Units != 5 {
		t.Fatalf("want 5 units in the entry at %d, got %+v", newest, r)
	}
	s.lives("a long log", r.ResetAfter, time.Minute)
	if got := s.client.StrLen(t.Context(), key).Val(); got != 24+16*maxEntries {
		t.Fatalf("want %d bytes, got %d", 24+16*maxEntries, got)
	}
	s.client.Persist(s.Context(), key)
	s.adjust(ratelimit.Refund, 5, r.Receipt)
	s.livesOn("a long log after a refund")
	if r := s.take(s.charge(0, ratelimit.Enforce))[0]; r.Used != maxEntries {
		t.Fatalf("after the refund: want %d used, got %+v", maxEntries, r)
	}
	s.now = time.UnixMicro(newest).Add(time.Hour)
	if r := s.take(s.charge(1, ratelimit.Enforce))[0]; !r.Allowed || r.Used != 1 {
		t.Fatalf("an hour later: want 1 used, got %+v", r)
	}
	if got := s.client.StrLen(t.Context(), key).Val(); got != 24+16 {
		t.Fatalf("an hour later: want 40 bytes, got %d", got)
	}
}
