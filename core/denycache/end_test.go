package denycache_test

import (
	"context"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

// What ends a denial before its time.
func TestEnds(t *testing.T) {
	low, high := ratelimit.PerMinute(10), ratelimit.PerMinute(11)
	correct := func(op ratelimit.Op, units int64) func(*lab, *ratelimit.Space, ratelimit.Receipt) {
		return func(l *lab, s *ratelimit.Space, r ratelimit.Receipt) {
			l.adjust(ratelimit.Adjustment{Op: op, Space: s, Key: []byte("ann"), Limit: low, Units: units, Receipt: r})
		}
	}
	for name, c := range map[string]struct {
		change func(l *lab, s *ratelimit.Space, r ratelimit.Receipt)
		told   string // of 1 a second after the denial
	}{
		"refund": {correct(ratelimit.Refund, 1), "ok"},
		"reset":  {correct(ratelimit.Reset, 0), "ok"},
		"extra":  {correct(ratelimit.Extra, 1), "11s"},
		"a raised limit": {func(l *lab, s *ratelimit.Space, _ ratelimit.Receipt) {
			l.take(under(on(s, 0), high))
		}, "5s"},
		"a clock that stepped back": {func(l *lab, s *ratelimit.Space, _ ratelimit.Receipt) {
			l.clock.Advance(-time.Minute)
			l.take(on(s, 0))
			l.clock.Advance(time.Minute)
		}, "5s"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, long)
			api := l.space("api", low, high)
			var receipt ratelimit.Receipt
			l.play([]step{
				{0, func() { receipt = l.take(on(api, 10))[0].Receipt }, charges{on(api, 1)}, true, "6s"},
				{time.Second, nil, charges{on(api, 1)}, false, "5s"},
				{time.Second, func() { c.change(l, api, receipt) }, charges{on(api, 1)}, true, c.told},
			})
		})
	}
}

func TestRaisedLimitIsNotOutlived(t *testing.T) {
	l := newLab(t, long)
	low, high := ratelimit.PerMinute(10), ratelimit.PerMinute(20)
	api := l.space("api", low, high)
	l.play([]step{
		{0, nil, charges{on(api, 10)}, true, "ok"},
		{0, nil, charges{on(api, 1)}, true, "6s"},
		{0, nil, charges{under(on(api, 11), high)}, true, "3s"},
		{0, nil, charges{under(on(api, 11), high)}, false, "3s"},
		{0, nil, charges{under(on(api, 1), high)}, true, "ok"},
		{0, nil, charges{on(api, 1)}, true, "12s"},
		{0, nil, charges{under(on(api, 0), high)}, true, "ok"},
		{0, nil, charges{on(api, 1)}, true, "12s"},
	})
}

// A reset that does not come through the cache.
func TestMaxAge(t *testing.T) {
	for _, c := range []struct{ config, age time.Duration }{{0, time.Second}, {us, us}, {time.Minute, time.Minute}} {
		l := newLab(t, denycache.Config{MaxAge: c.config})
		day := l.space("day", ratelimit.PerDay(1))
		elsewhere := func() {
			if err := l.memory.Adjust(context.Background(), []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: day, Key: []byte("ann")}}); err != nil {
				t.Fatal(err)
			}
		}
		l.play([]step{
			{0, nil, charges{on(day, 1)}, true, "ok"},
			{0, nil, charges{on(day, 1)}, true, "24h0m0s"},
			{0, elsewhere, charges{on(day, 1)}, false, "24h0m0s"},
			{c.age - us, nil, charges{on(day, 1)}, false, (24*time.Hour - c.age + us).String()},
			{c.age, nil, charges{on(day, 1)}, true, "ok"},
			{c.age, nil, charges{on(day, 2)}, true, "never"},
			{2*c.age - us, nil, charges{on(day, 2)}, false, "never"},
			{2 * c.age, nil, charges{on(day, 2)}, true, "never"},
		})
	}
}

// A wait that is beyond what is told exactly stays so.
func TestEndlessWait(t *testing.T) {
	l := newLab(t, long)
	slow := l.space("slow", ratelimit.Limit{Quota: 1, Window: ratelimit.MaxWindow, Burst: ratelimit.MaxQuota})
	const most = time.Microsecond << 53
	l.play([]step{
		{0, nil, charges{on(slow, ratelimit.MaxQuota)}, true, "ok"},
		{0, nil, charges{on(slow, ratelimit.MaxQuota)}, true, most.String()},
		{time.Minute, nil, charges{on(slow, ratelimit.MaxQuota)}, false, most.String()},
	})
}

func TestBans(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(1))
	room := l.space("room", ratelimit.PerMinute(10))
	penalty := ratelimit.Penalty{Denials: 3, Within: time.Minute, Ban: 10 * time.Minute}
	bans := l.open(ratelimit.NewPenaltySpace("bans", penalty))
	tried := charges{on(api, 1), on(bans, 1)}
	reset := func() { l.adjust(ratelimit.Adjustment{Op: ratelimit.Reset, Space: bans, Key: []byte("ann")}) }
	reopen := func() {
		penalty.Ban = 20 * time.Minute
		bans = l.open(ratelimit.NewPenaltySpace("bans", penalty))
	}
	l.play([]step{
		{0, nil, tried, true, "ok ok"},
		{0, nil, tried, true, "1m0s ok"},
		{0, nil, charges{on(api, 1)}, true, "1m0s"},
		{0, nil, charges{on(api, 1)}, false, "1m0s"},
		{0, nil, tried, true, "1m0s ok"}, // it counts, so it is asked about
		{0, nil, tried, true, "1m0s 10m0s"},
		{0, nil, tried, false, "- 10m0s"},
		{time.Minute, nil, charges{on(bans, 1), on(room, 1)}, false, "9m0s -"},
		{time.Minute, nil, charges{on(bans, 1), on(bans, 0), on(bans, 1)}, false, "9m0s - 9m0s"},
		{time.Minute, nil, charges{on(room, 1), on(bans, 0)}, true, "ok 9m0s"}, // a look denies nothing
		{time.Minute, nil, charges{on(room, 1), key(on(bans, 1), "bob")}, true, "ok ok"},
		{10*time.Minute - us, nil, charges{on(bans, 1)}, false, "1µs"},
		{10 * time.Minute, nil, charges{on(bans, 1)}, true, "ok"},
		{10 * time.Minute, nil, charges{on(api, 1), on(bans, 1)}, true, "ok ok"},
		{10 * time.Minute, func() { l.take(tried...); l.take(tried...) }, tried, true, "1m0s 10m0s"},
		{10 * time.Minute, reset, tried, true, "1m0s ok"},
		{10 * time.Minute, func() { l.take(tried...) }, tried, true, "1m0s 10m0s"},
		{11 * time.Minute, nil, tried, false, "- 9m0s"},
		{11 * time.Minute, reopen, tried, true, "ok 9m0s"},
	})
}

// A space of another policy's penalty ends bans, and nothing else.
func TestOpenKeepsDenials(t *testing.T) {
	l := newLab(t, long)
	api := l.space("api", ratelimit.PerMinute(1))
	l.take(on(api, 1))
	l.take(on(api, 1))
	l.open(ratelimit.NewPenaltySpace("bans", ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: time.Hour}))
	l.space("api", ratelimit.PerMinute(1))
	l.play([]step{{0, nil, charges{on(api, 1)}, false, "1m0s"}})
	if err := l.cache.Open(ratelimit.NewSpace("bad", ratelimit.Limit{})); err == nil {
		t.Error("Open of what the store refuses: no error")
	}
}

// A clock beyond the years that stores count stands still, as theirs does.
func TestEndOfTime(t *testing.T) {
	l := newLab(t, long)
	l.clock.Set(time.UnixMicro(1 << 53))
	api := l.space("api", ratelimit.PerMinute(10))
	l.play([]step{
		{0, nil, charges{on(api, 10)}, true, "ok"},
		{0, nil, charges{on(api, 1)}, true, "6s"},
		{time.Minute, nil, charges{on(api, 1)}, false, "6s"},
	})
}
