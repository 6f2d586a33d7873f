package stacktest_test

import (
	"net/http"
	"slices"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// roomAndFull runs a test with a policy of room for ten and one for two, in both orders.
func roomAndFull(test func(policies ...ratelimit.Policy)) {
	policies := []ratelimit.Policy{{Name: "room", Limit: ratelimit.Per(10, ages)}, {Name: "full", Limit: ratelimit.Per(2, ages)}}
	for range 2 {
		test(policies...)
		slices.Reverse(policies)
	}
}

// inUse checks what is in use of a policy.
func (s *stack) inUse(t *testing.T, p ratelimit.Policy, key string, want int64) {
	t.Helper()
	if got := allow(t, s.limiter(t, p), key, 0).Used; got != want {
		t.Errorf("%q: %d of %s in use, want %d", key, got, p.Name, want)
	}
}

// What one policy denies, another that has room is not charged for.
func TestDenialChargesNoOther(t *testing.T) {
	server := redistest.Start(t)
	stacks(t, server.URL(), enough, func(t *testing.T, s *stack) {
		roomAndFull(func(policies ...ratelimit.Policy) {
			key := policies[0].Name + " first"
			l := s.limiter(t, policies...)
			allow(t, l, key, 2)
			for range 100 {
				if d := allow(t, l, key, 1); d.Outcome != ratelimit.Denied || d.Policy != "full" {
					t.Fatalf("%s: %+v, want it denied by the full one", key, d)
				}
			}
			for _, p := range policies {
				s.inUse(t, p, key, 2)
			}
		})
	})
}

// A cost above the capacity is denied for ever, and leaves no trace.
func TestCostAboveCapacity(t *testing.T) {
	server := redistest.Start(t)
	stacks(t, server.URL(), enough, func(t *testing.T, s *stack) {
		for _, algorithm := range algorithms {
			p := ratelimit.Policy{Name: algorithm.String(), Limit: ratelimit.Per(10, ages).Using(algorithm), Cost: keyfuncs.Fixed(11)}
			l := s.limiter(t, p)
			for _, used := range []int64{0, 4} {
				allow(t, l, client, used)
				before := stored(t, server)
				for range 3 {
					if d := allow(t, l, client, 11); d.Outcome != ratelimit.Denied || d.RetryAfter != ratelimit.Never || d.Used != used {
						t.Errorf("%v, %d in use: %+v, want it denied for ever", algorithm, used, d)
					}
				}
				w := get(app(l))
				if body := `{"error":"rate_limit_exceeded"}`; w.Code != http.StatusTooManyRequests || w.Body.String() != body || w.Header()["Retry-After"] != nil {
					t.Errorf("%v, %d in use: answered %d, %s, %v", algorithm, used, w.Code, w.Body, w.Header())
				}
				if after := stored(t, server); !slices.Equal(before, after) {
					t.Errorf("%v, %d in use: stored are %q, were %q", algorithm, used, after, before)
				}
				s.inUse(t, p, client, used)
			}
		}
	})
}

// stored returns the keys that a server holds, in order.
func stored(t *testing.T, server *redistest.Server) []string {
	t.Helper()
	found, err := server.Do("KEYS", "*")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, key := range found.([]any) {
		keys = append(keys, key.(string))
	}
	slices.Sort(keys)
	return keys
}
