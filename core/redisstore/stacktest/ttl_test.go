package stacktest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// life is a policy whose keys' time to live is watched.
type life struct {
	*testing.T
	*ratelimit.Limiter

	name   string
	server *redistest.Server
}

// key returns the one key that is stored for the policy, or "".
func (l life) key() string {
	l.Helper()
	found := ""
	for _, key := range stored(l.T, l.server) {
		if strings.Contains(key, "}"+l.name+":") {
			if found != "" {
				l.Errorf("%s: there are %q and %q", l.name, found, key)
			}
			found = key
		}
	}
	return found
}

// lives checks that the key lives as long as there is something to remember.
func (l life) lives(what string) {
	l.Helper()
	need := allow(l.T, l.Limiter, "key", 0).ResetAfter
	reply, err := l.server.Do("PTTL", l.key())
	ms, _ := reply.(int64)
	ttl := time.Duration(ms) * time.Millisecond
	if err != nil || ms <= 0 || ttl > need+time.Second || ttl < need-time.Minute { // it has become shorter since
		l.Errorf("%s, %s: lives for %v, needs %v; %v", l.name, what, ttl, need, err)
	}
}

func (l life) charge(cost int64) ratelimit.Decision {
	l.Helper()
	return allow(l.T, l.Limiter, "key", cost)
}

// persist takes the key's time to live, as an operator's mistake would.
func (l life) persist() {
	l.Helper()
	if n, err := l.server.Do("PERSIST", l.key()); n != int64(1) {
		l.Errorf("PERSIST %q: %v, %v", l.key(), n, err)
	}
}

// Whatever a limiter does, no key is left that lives for ever. One that is found so is
// well again once it is charged.
func TestNoKeyLivesForEver(t *testing.T) {
	server := redistest.Start(t)
	for _, algorithm := range algorithms {
		t.Run(algorithm.String(), func(t *testing.T) {
			if _, err := server.Do("FLUSHALL"); err != nil {
				t.Fatal(err)
			}
			i := newInstance(t, server.URL(), layers{timeout: enough})
			watch := func(name string, over ratelimit.Over) life {
				p := ratelimit.Policy{Name: name, Limit: ratelimit.Per(10, ages).Using(algorithm), Over: over}
				return life{t, i.limiter(t, p), name, server}
			}

			enforced := watch("enforced", ratelimit.Reject())
			enforced.charge(0)
			enforced.charge(11)
			if key := enforced.key(); key != "" {
				t.Errorf("after a look and a denial: %q is stored", key)
			}
			enforced.charge(3)
			enforced.lives("charged")
			enforced.charge(8)
			enforced.lives("denied")
			enforced.persist()
			enforced.charge(1)
			enforced.lives("charged after PERSIST")
			enforced.charge(6)
			enforced.lives("full")
			enforced.reset()

			shadow := watch("shadow", ratelimit.Shadow())
			shadow.charge(3)
			shadow.lives("charged")
			shadow.charge(8)
			shadow.lives("over the limit")

			meter := watch("meter", ratelimit.Meter())
			meter.charge(10)
			meter.persist() // full, and for ever
			meter.charge(25)
			meter.lives("in debt, after PERSIST")
			meter.reset()

			queue, ahead := watch("queue", ratelimit.Reject()), int64(6)
			switch algorithm {
			case ratelimit.TokenBucket, ratelimit.GCRA:
				queue, ahead = watch("reservations", ratelimit.Delay(ages/2)), 10
			case ratelimit.LeakyBucket:
			default:
				return // nobody waits, so nothing is given back
			}
			queue.charge(ahead)
			queue.persist()
			queue.giveBack(t, 4)
			queue.lives("given back by one that waits, after PERSIST")
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if err := queue.Wait(ctx, "key", 4); !errors.Is(err, ratelimit.ErrDeadline) {
				t.Errorf("Wait: %v, want ErrDeadline", err)
			}
			queue.lives("given back by Wait")
			if used := queue.charge(0).Used; used != ahead {
				t.Errorf("%d in use, want %d", used, ahead)
			}
		})
	}
}

// reset forgets the key.
func (l life) reset() {
	l.Helper()
	if err := l.Reset(l.Context(), "key"); err != nil {
		l.Error(err)
	}
	if key := l.key(); key != "" {
		l.Errorf("%s: %q is stored after a reset", l.name, key)
	}
}

// giveBack charges for one who waits in vain.
func (l life) giveBack(t *testing.T, cost int64) {
	t.Helper()
	ticket, err := l.Acquire(t.Context(), ratelimit.Ask{Policy: l.name, Key: "key", Cost: cost})
	if err != nil || ticket.Outcome() != ratelimit.Allowed || ticket.Delay() == 0 {
		t.Fatalf("Acquire: %+v, %v", ticket.Decision(), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := ticket.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	ticket.End(0, nil)
}
