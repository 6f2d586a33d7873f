package redisstore

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Where a Take was denied in another slot, the part here says what would fit and writes
// nothing but strikes.
func TestDeniedInAnotherSlot(t *testing.T) {
	client := startRedis(t)
	limits := ratelimit.NewSpace("policy", ratelimit.PerMinute(10).Using(ratelimit.FixedWindow))
	penalty := ratelimit.NewPenaltySpace("penalty", ratelimit.Penalty{Denials: 2, Within: time.Minute, Ban: time.Hour})
	now := newYear
	s := storeOn(t, client, func() time.Time { return now })
	for _, space := range []*ratelimit.Space{limits, penalty} {
		if err := s.Open(space); err != nil {
			t.Fatal(err)
		}
	}
	charge := func(cost int64, mode ratelimit.Mode) ratelimit.Charge {
		return ratelimit.Charge{Space: limits, Key: []byte("key"), Limit: limits.Limits[0], Cost: cost, Mode: mode}
	}
	strike := ratelimit.Charge{Space: penalty, Key: []byte("key"), Cost: 1, Mode: ratelimit.Strike}
	take := func(over bool, charges ...ratelimit.Charge) []ratelimit.Result {
		t.Helper()
		var c call
		s.encoder.take(&c, charges, over)
		if err := c.run(t, client); err != nil {
			t.Fatal(err)
		}
		results := make([]ratelimit.Result, len(charges))
		if err := decodeTake(c.reply, charges, results); err != nil {
			t.Fatal(err)
		}
		return results
	}

	take(false, charge(4, ratelimit.Enforce))
	if r := take(true, charge(6, ratelimit.Enforce))[0]; !r.Allowed || r.Used != 4 || r.Receipt.Units != 0 {
		t.Errorf("6 of 6: want it to fit and nothing charged, got %+v", r)
	}
	if r := take(true, charge(7, ratelimit.Enforce))[0]; r.Allowed || r.RetryAfter != time.Minute || r.Used != 4 {
		t.Errorf("7 of 6: want it denied for a minute, got %+v", r)
	}
	r := take(true, charge(5, ratelimit.Enforce), charge(2, ratelimit.Enforce), charge(1, ratelimit.Force), strike)
	if !r[0].Allowed || r[1].Allowed || !r[2].Allowed || r[0].Used+r[1].Used+r[2].Used != 12 {
		t.Errorf("5, 2 and 1 of 6: want the second denied and nothing charged, got %+v", r)
	}
	if r[3].Used != 1 || !r[3].Allowed {
		t.Errorf("want one strike, got %+v", r[3])
	}
	if r := take(true, strike)[0]; r.Allowed || r.RetryAfter != time.Hour {
		t.Errorf("want the second strike to ban for an hour, got %+v", r)
	}
	if r := take(false, charge(0, ratelimit.Enforce))[0]; r.Used != 4 {
		t.Errorf("in the end: want 4 used, got %+v", r)
	}
}
