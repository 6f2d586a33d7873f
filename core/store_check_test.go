package ratelimit_test

import (
	"errors"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// What no store can do is told before one is asked, and wraps ErrMisuse.
func TestCheckTake(t *testing.T) {
	limit := ratelimit.PerMinute(10)
	space := ratelimit.NewSpace("api", limit)
	bans := ratelimit.NewPenaltySpace("api", ratelimit.Penalty{Denials: 3, Within: time.Minute, Ban: time.Minute})
	charge := func(cost int64, mode ratelimit.Mode, l ratelimit.Limit, s *ratelimit.Space) ratelimit.Charge {
		return ratelimit.Charge{Space: s, Limit: l, Cost: cost, Mode: mode}
	}
	fine := charge(1, ratelimit.Enforce, limit, space)
	for _, c := range []struct {
		name    string
		charges []ratelimit.Charge
		ok      bool
	}{
		{"none", nil, true},
		{"one", []ratelimit.Charge{fine}, true},
		{"another quota", []ratelimit.Charge{charge(1, ratelimit.Force, ratelimit.PerMinute(99), space)}, true},
		{"a spill", []ratelimit.Charge{fine, charge(0, ratelimit.Spill, limit, space)}, true},
		{"a strike", []ratelimit.Charge{fine, charge(1, ratelimit.Strike, ratelimit.Limit{}, bans)}, true},
		{"a negative cost", []ratelimit.Charge{fine, charge(-1, ratelimit.Observe, limit, space)}, false},
		{"a negative strike", []ratelimit.Charge{charge(-1, ratelimit.Strike, ratelimit.Limit{}, bans)}, false},
		{"another window", []ratelimit.Charge{charge(1, ratelimit.Enforce, ratelimit.PerHour(10), space)}, false},
		{"another algorithm", []ratelimit.Charge{charge(1, ratelimit.Enforce, limit.Using(ratelimit.GCRA), space)}, false},
		{"an invalid limit", []ratelimit.Charge{charge(1, ratelimit.Enforce, limit.WithBurst(-1), space)}, false},
		{"a space of nothing", []ratelimit.Charge{charge(1, ratelimit.Enforce, limit, new(ratelimit.Space))}, false},
		{"a strike on a limit", []ratelimit.Charge{charge(1, ratelimit.Strike, limit, space)}, false},
		{"a limit on strikes", []ratelimit.Charge{charge(1, ratelimit.Enforce, limit, bans)}, false},
		{"a spill first", []ratelimit.Charge{charge(0, ratelimit.Spill, limit, space)}, false},
		{"a spill of a meter", []ratelimit.Charge{charge(1, ratelimit.Force, limit, space), charge(0, ratelimit.Spill, limit, space)}, false},
	} {
		err := ratelimit.CheckTake(c.charges, make([]ratelimit.Result, len(c.charges)))
		if c.ok != (err == nil) || err != nil && !errors.Is(err, ratelimit.ErrMisuse) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := ratelimit.CheckTake([]ratelimit.Charge{fine}, nil); !errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("no room for results: %v", err)
	}
}

func TestCheckAdjustment(t *testing.T) {
	limit := ratelimit.PerMinute(10)
	space := ratelimit.NewSpace("api", limit)
	log := limit.Using(ratelimit.SlidingLog)
	leases := ratelimit.NewLeaseSpace("api", log)
	bans := ratelimit.NewPenaltySpace("api", ratelimit.Penalty{Denials: 3, Within: time.Minute, Ban: time.Minute})
	for _, c := range []struct {
		name string
		a    ratelimit.Adjustment
		ok   bool
	}{
		{"a refund", ratelimit.Adjustment{Op: ratelimit.Refund, Space: space, Limit: limit, Units: 3}, true},
		{"an extra charge", ratelimit.Adjustment{Op: ratelimit.Extra, Space: space, Limit: limit}, true},
		{"a renewal", ratelimit.Adjustment{Op: ratelimit.Renew, Space: leases, Limit: log}, true},
		{"a reset without a limit", ratelimit.Adjustment{Op: ratelimit.Reset, Space: space}, true},
		{"a reset of strikes", ratelimit.Adjustment{Op: ratelimit.Reset, Space: bans}, true},
		{"a refund of strikes", ratelimit.Adjustment{Op: ratelimit.Refund, Space: bans}, false},
		{"negative units", ratelimit.Adjustment{Op: ratelimit.Extra, Space: space, Limit: limit, Units: -1}, false},
		{"no limit", ratelimit.Adjustment{Op: ratelimit.Refund, Space: space}, false},
		{"a renewal of a bucket", ratelimit.Adjustment{Op: ratelimit.Renew, Space: space, Limit: limit}, false},
		{"an unknown operation", ratelimit.Adjustment{Op: 9, Space: space, Limit: limit}, false},
	} {
		err := ratelimit.CheckAdjustment(&c.a)
		if c.ok != (err == nil) || err != nil && !errors.Is(err, ratelimit.ErrMisuse) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
