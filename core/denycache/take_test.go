package denycache_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

const us = time.Microsecond

var long = denycache.Config{MaxAge: time.Hour}

// 10 a minute are one each 6 s.
func TestDenialLasts(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(10))
	one := charges{on(api, 1)}
	l.play([]step{
		{0, nil, charges{on(api, 10)}, true, "ok"},
		{time.Second, nil, one, true, "5s"},
		{time.Second, nil, one, false, "5s"},
		{2 * time.Second, nil, one, false, "4s"},
		{6*time.Second - us, nil, one, false, "1µs"},
		{6 * time.Second, nil, one, true, "ok"},
		{6 * time.Second, nil, one, true, "6s"},
		{6 * time.Second, nil, charges{key(on(api, 1), "bob")}, true, "ok"},
	})
}

// All numbers of a hit, at 10 a minute of which 7 are used.
func TestHitTells(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(10))
	l.take(on(api, 7))
	asked := l.take(on(api, 5))[0]
	l.clock.Advance(8 * time.Second)
	want := ratelimit.Result{
		Used: 7, Remaining: 3, // as they were
		RetryAfter: 4 * time.Second, ResetAfter: 34 * time.Second, NextAfter: 0, // 12 s, 42 s, 6 s less 8 s
		Now: asked.Now + 8_000_000, Receipt: ratelimit.Receipt{At: asked.Receipt.At + 8_000_000},
	}
	if got := l.take(on(api, 5))[0]; got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if s := l.cache.Stats(); s != (denycache.Stats{Keys: 1, Hits: 1}) {
		t.Errorf("%+v", s)
	}
}

// Only the same is denied the same.
func TestOtherCharges(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(10))
	other := l.space("other", ratelimit.PerMinute(10))
	l.play([]step{
		{0, nil, charges{on(api, 8)}, true, "ok"},
		{0, nil, charges{on(api, 3)}, true, "6s"},
		{0, nil, charges{on(api, 4)}, true, "12s"}, // takes the place of the one before
		{0, nil, charges{on(api, 4)}, false, "12s"},
		{0, nil, charges{on(api, 11)}, true, "never"},
		{0, nil, charges{on(api, 11)}, false, "never"},
		{0, nil, charges{on(api, 3)}, true, "6s"},
		{0, nil, charges{within(on(api, 3), time.Second)}, true, "5s"},
		{0, nil, charges{within(on(api, 3), time.Second)}, false, "5s"},
		{0, nil, charges{within(on(api, 3), 2*time.Second)}, true, "4s"},
		{0, nil, charges{on(api, 0)}, true, "ok"}, // a look
		{0, nil, charges{mode(on(api, 3), ratelimit.Observe)}, true, "6s"},
		{0, nil, charges{on(other, 3)}, true, "ok"},
		{0, nil, charges{within(on(api, 3), 2*time.Second)}, false, "4s"},
		{0, nil, charges{on(api, 1)}, true, "ok"}, // admitted: the wait is another
		{0, nil, charges{within(on(api, 3), 2*time.Second)}, true, "10s"},
		{0, nil, charges{mode(on(api, 1), ratelimit.Force)}, true, "ok"},
		{0, nil, charges{within(on(api, 3), 2*time.Second)}, true, "16s"},
	})
}

func TestSeveralCharges(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(1))
	day := l.space("day", ratelimit.PerHour(1))
	room := l.space("room", ratelimit.PerMinute(10))
	leases := l.open(ratelimit.NewLeaseSpace("leases", ratelimit.PerMinute(1).Using(ratelimit.SlidingLog)))
	all := charges{on(room, 1), on(api, 1), mode(on(room, 1), ratelimit.Observe), on(day, 1)}
	l.play([]step{
		{0, nil, charges{on(api, 1), on(day, 1), on(leases, 1)}, true, "ok ok ok"},
		{0, nil, all, true, "ok 1m0s ok 1h0m0s"},
		{time.Second, nil, all, false, "- 59s - 59m59s"},
		{time.Second, nil, charges{on(leases, 1), mode(on(room, 1), ratelimit.Force), on(room, 0), on(api, 1)}, false, "- - - 59s"},
		{2 * time.Second, nil, charges{on(day, 1)}, false, "59m58s"},
		// A key that stands twice, and a pair, are asked about and not remembered.
		{2 * time.Second, nil, charges{on(api, 1), on(api, 1)}, true, "58s 58s"},
		{2 * time.Second, nil, charges{on(api, 1), on(api, 0)}, true, "58s ok"},
		{2 * time.Second, nil, charges{on(api, 1), mode(on(day, 0), ratelimit.Spill)}, true, "58s 58s"},
		{2 * time.Second, nil, charges{on(api, 1), mode(on(leases, 0), ratelimit.Spill)}, true, "58s 58s"},
		{2 * time.Second, nil, charges{on(api, 1)}, false, "58s"},
		{2 * time.Second, nil, charges{on(leases, 1)}, true, "58s"},
		{2 * time.Second, nil, charges{on(leases, 1)}, true, "58s"},
	})
}

// A Take of more charges than usual.
func TestManyCharges(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(1))
	l.play([]step{
		{0, nil, charges{on(api, 1)}, true, "ok"},
		{0, nil, many(api, 10), true, "1m0s ok ok ok ok ok ok ok ok ok"},
		{time.Second, nil, many(api, 10), false, "59s - - - - - - - - -"},
	})
}

// many returns charges on as many keys, of which "ann" is the first.
func many(s *ratelimit.Space, n int) charges {
	out := charges{on(s, 1)}
	for i := range n - 1 {
		out = append(out, key(on(s, 1), string(rune('A'+i))))
	}
	return out
}
