package redisstore

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Half the time that there is has passed since the last write, and the wait reaches beyond
// its end.
func TestSpillWaitsBeyondTheLastInstant(t *testing.T) {
	limit := ratelimit.Per(1, 4_195_303*time.Microsecond)
	s := newSubject(t, startRedis(t), ratelimit.NewSpace("policy", limit), true)
	other := func(c ratelimit.Charge) ratelimit.Charge { c.Key = []byte("other"); return c }
	s.now = time.UnixMicro(1_767_486_810_706_136)
	s.take(s.charge(1<<31-1, ratelimit.Force))
	s.now = time.UnixMicro(most)
	r := s.take(other(s.charge(2, ratelimit.Enforce)), s.charge(0, ratelimit.Spill))
	const want = 1_769_632_142_675_186 * time.Microsecond
	if r[0].Allowed || r[0].RetryAfter != want || r[1].RetryAfter != want {
		t.Fatalf("want a wait of %d, got %d and %d", want, r[0].RetryAfter, r[1].RetryAfter)
	}
}
