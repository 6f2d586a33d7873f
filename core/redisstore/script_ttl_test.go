package redisstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// newYear is an instant at which windows of a minute, an hour and a day begin.
var newYear = time.UnixMicro(1_767_225_600_000_000)

// subject is a store under test with one clock, and one policy's key.
type subject struct {
	testing.TB
	ratelimit.Store

	client *redis.Client
	prefix string
	now    time.Time
	space  *ratelimit.Space
	limit  ratelimit.Limit
}

// newSubject opens a space on a store; where frozen is set the store's clock is the
// subject's, else the server's.
func newSubject(t testing.TB, client *redis.Client, space *ratelimit.Space, frozen bool) *subject {
	t.Helper()
	s := &subject{TB: t, client: client, now: newYear.Add(10 * time.Second), space: space}
	var now func() time.Time
	if frozen {
		now = func() time.Time { return s.now }
	}
	if len(space.Limits) > 0 {
		s.limit = space.Limits[0]
	}
	store := storeOn(t, client, now)
	s.Store, s.prefix = store, store.encoder.prefix
	if err := s.Open(space); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *subject) charge(cost int64, mode ratelimit.Mode) ratelimit.Charge {
	return ratelimit.Charge{Space: s.space, Key: []byte("key"), Limit: s.limit, Cost: cost, Mode: mode}
}

func (s *subject) take(charges ...ratelimit.Charge) []ratelimit.Result {
	s.Helper()
	results := make([]ratelimit.Result, len(charges))
	if err := s.Take(s.Context(), charges, results); err != nil {
		s.Fatal(err)
	}
	return results
}

func (s *subject) adjust(op ratelimit.Op, units int64, receipt ratelimit.Receipt) ratelimit.Receipt {
	s.Helper()
	a := []ratelimit.Adjustment{{Op: op, Space: s.space, Key: []byte("key"), Limit: s.limit, Units: units, Receipt: receipt}}
	if err := s.Adjust(s.Context(), a); err != nil {
		s.Fatal(err)
	}
	return a[0].Receipt
}

// keys returns what is stored.
func (s *subject) keys() []string {
	s.Helper()
	keys, err := s.client.Keys(s.Context(), s.prefix+"*").Result()
	if err != nil {
		s.Fatal(err)
	}
	return keys
}

// lives fails the test unless the one key's time to live is what a state needs that is
// forgotten after reset. It allows for half a minute since the write.
func (s *subject) lives(what string, reset, slack time.Duration) {
	s.Helper()
	keys := s.keys()
	if len(keys) != 1 {
		s.Fatalf("%s: want one key, got %q", what, keys)
	}
	most := reset.Truncate(time.Millisecond) + time.Millisecond + slack
	if ttl := s.client.PTTL(s.Context(), keys[0]).Val(); ttl <= 0 || ttl > most || ttl < most-30*time.Second {
		s.Fatalf("%s: want a time to live of at most %v, got %v", what, most, ttl)
	}
}

// livesOn is lives of a key of a frozen clock.
func (s *subject) livesOn(what string) {
	s.Helper()
	s.lives(what, s.take(s.charge(0, ratelimit.Enforce))[0].ResetAfter, time.Minute)
}

// spaces of every kind, of ten a minute.
func kinds() map[string]*ratelimit.Space {
	all := map[string]*ratelimit.Space{}
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		all[a.String()] = ratelimit.NewSpace("policy", ratelimit.PerMinute(10).Using(a))
	}
	all["lease"] = ratelimit.NewLeaseSpace("policy", ratelimit.PerMinute(10).Using(ratelimit.SlidingLog))
	return all
}

func TestEveryWriteSetsATimeToLive(t *testing.T) {
	client := startRedis(t)
	for name, space := range kinds() {
		t.Run(name, func(t *testing.T) {
			s := newSubject(t, client, space, true)
			s.take(s.charge(0, ratelimit.Enforce), s.charge(11, ratelimit.Enforce))
			if keys := s.keys(); len(keys) > 0 {
				t.Fatalf("after a look and a denial: want nothing stored, got %q", keys)
			}
			first := s.take(s.charge(4, ratelimit.Enforce))[0]
			s.lives("after a charge", first.ResetAfter, time.Minute)
			s.take(s.charge(9, ratelimit.Enforce))
			s.lives("after a denial", first.ResetAfter, time.Minute)
			s.now = s.now.Add(time.Second)
			observed := s.take(s.charge(1, ratelimit.Observe), s.charge(2, ratelimit.Enforce))[1]
			s.lives("after two charges", observed.ResetAfter, time.Minute)
			debt := s.take(s.charge(20, ratelimit.Force))[0]
			s.lives("in debt", debt.ResetAfter, time.Minute)
			s.adjust(ratelimit.Refund, 15, debt.Receipt)
			s.livesOn("after a refund of some")
			extra := s.adjust(ratelimit.Extra, 3, ratelimit.Receipt{})
			s.livesOn("after an extra charge")
			s.now = s.now.Add(-5 * time.Second)
			s.take(s.charge(1, ratelimit.Force))
			s.livesOn("charged by a clock behind")
			if space.Lease {
				s.now = s.now.Add(20 * time.Second)
				extra = s.adjust(ratelimit.Renew, 0, extra)
				s.livesOn("after a renewal")
			}
			s.adjust(ratelimit.Refund, 1, extra)
			s.livesOn("after another refund")

			key := s.keys()[0]
			client.Persist(t.Context(), key)
			s.take(s.charge(0, ratelimit.Enforce))
			s.take(s.charge(1, ratelimit.Force))
			s.livesOn("written after PERSIST")
			s.adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
			if keys := s.keys(); len(keys) > 0 {
				t.Fatalf("after a reset: want nothing stored, got %q", keys)
			}
			only := s.take(s.charge(10, ratelimit.Enforce))[0].Receipt
			s.adjust(ratelimit.Refund, 10, only)
			if keys := s.keys(); len(keys) > 0 {
				t.Fatalf("after a refund of all: want nothing stored, got %q", keys)
			}
		})
	}
}

// The server's own clock needs no slack.
func TestTimeToLiveByTheServersClock(t *testing.T) {
	client := startRedis(t)
	for name, space := range kinds() {
		t.Run(name, func(t *testing.T) {
			s := newSubject(t, client, space, false)
			r := s.take(s.charge(3, ratelimit.Force))[0]
			keys := s.keys()
			if r.ResetAfter > 5*time.Second && len(keys) != 1 { // a window may just end
				t.Fatalf("want one key, got %q", keys)
			}
			for _, key := range keys {
				if ttl := client.PTTL(t.Context(), key).Val(); ttl < 0 || ttl > r.ResetAfter.Truncate(time.Millisecond)+time.Millisecond {
					t.Fatalf("want a time to live of at most %v, got %v", r.ResetAfter, ttl)
				}
			}
		})
	}
}

func TestPenaltiesLiveAsLongAsTheyCount(t *testing.T) {
	client := startRedis(t)
	penalty := ratelimit.Penalty{Denials: 3, Within: time.Minute, Ban: 10 * time.Minute, Factor: 2}
	space := ratelimit.NewPenaltySpace("penalty", penalty)
	s := newSubject(t, client, space, true)
	limits := ratelimit.NewSpace("policy", ratelimit.PerMinute(1))
	if err := s.Open(limits); err != nil {
		t.Fatal(err)
	}
	denied := ratelimit.Charge{Space: limits, Key: []byte("key"), Limit: limits.Limits[0], Cost: 2}
	for i, want := range []time.Duration{time.Minute, time.Minute, 20 * time.Minute} {
		r := s.take(denied, s.charge(1, ratelimit.Strike))[1]
		if r.ResetAfter != want {
			t.Fatalf("denial %d: want it to be forgotten after %v, got %v", i+1, want, r.ResetAfter)
		}
		s.lives(fmt.Sprint("denial ", i+1), want, time.Minute)
	}
	s.now = s.now.Add(10 * time.Minute)
	r := s.take(denied, s.charge(1, ratelimit.Strike))[1]
	s.lives("denied after the ban", r.ResetAfter, time.Minute)
	client.Persist(t.Context(), s.keys()[0])
	r = s.take(denied, s.charge(1, ratelimit.Strike))[1]
	s.lives("denied after PERSIST", r.ResetAfter, time.Minute)
	s.adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
	if keys := s.keys(); len(keys) > 0 {
		t.Fatalf("after a reset: want nothing stored, got %q", keys)
	}
}

// A wait of less than a millisecond is one to the server, never none.
func TestWaitsBelowAMillisecond(t *testing.T) {
	client := startRedis(t)
	for _, a := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.GCRA, ratelimit.LeakyBucket} {
		space := ratelimit.NewSpace("policy", ratelimit.PerSecond(5000).WithBurst(1).Using(a))
		s := newSubject(t, client, space, true)
		for range 3 {
			if r := s.take(s.charge(1, ratelimit.Enforce))[0]; !r.Allowed || r.ResetAfter != 200*time.Microsecond {
				t.Fatalf("%v: want it admitted and 200µs to reset, got %+v", a, r)
			}
			s.now = s.now.Add(199 * time.Microsecond)
			if r := s.take(s.charge(1, ratelimit.Enforce))[0]; r.Allowed || r.RetryAfter != time.Microsecond {
				t.Fatalf("%v: want it denied for 1µs, got %+v", a, r)
			}
			s.now = s.now.Add(time.Microsecond)
		}
		server := newSubject(t, client, space, false)
		for range 200 {
			server.take(server.charge(1, ratelimit.Enforce), server.charge(1, ratelimit.Force))
		}
	}
}
