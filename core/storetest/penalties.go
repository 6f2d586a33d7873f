package storetest

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// penaltyChecks hold what Strike charges do.
func penaltyChecks(h Harness) []check {
	window := []ratelimit.Algorithm{ratelimit.FixedWindow}
	lacking := unless(h.Lacks.Penalties, "penalties")
	return []check{
		{"a penalty", "bans a key that is denied too often", window, lacking, ban},
		{"a penalty", "that bans denies the whole Take", window, lacking, banAlone},
		{"a penalty", "grows and is forgotten", window, lacking, banGrows},
		{"a penalty", "counts denials within a span", window, lacking, strikesExpire},
		{"a penalty", "that is opened anew holds at the next decision", window, lacking, changedPenalty},
		{"a penalty", "is refused at Open where it is out of range", nil, lacking, penaltyRange},
	}
}

// offender is a key that is denied by one limit and banned by a penalty.
type offender struct {
	account

	penalty *ratelimit.Space
}

func newOffender(t testing.TB, h Harness, penalty ratelimit.Penalty) offender {
	t.Helper()
	l := newLab(t, h)
	acc := l.account("policy", per(ratelimit.FixedWindow, 1, 24*time.Hour))
	space := ratelimit.NewPenaltySpace("penalty", penalty)
	l.open(space)
	acc.admit(1)
	return offender{acc, space}
}

func (o offender) strikes(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Space: o.penalty, Key: []byte(o.key), Cost: cost, Mode: ratelimit.Strike}
}

// offend is denied once, and returns what the penalty says.
func (o offender) offend() ratelimit.Result {
	o.Helper()
	r := o.take(o.charge(1), o.strikes(1))
	if r[0].Allowed {
		o.Fatalf("want the limit to deny, got %s", resultText(r[0]))
	}
	return r[1]
}

// behave asks for what the limit admits, and returns what the penalty says.
func (o offender) behave() ratelimit.Result {
	o.Helper()
	r := o.take(o.charge(0), o.strikes(1))
	if !r[0].Allowed {
		o.Fatalf("want the limit to admit, got %s", resultText(r[0]))
	}
	return r[1]
}

// banned fails the test unless the penalty bans for that long.
func (o offender) banned(r ratelimit.Result, want time.Duration) {
	o.Helper()
	if r.Allowed != (want == 0) || r.RetryAfter != want {
		o.Fatalf("at %d: want a ban for %v, got %s", o.clock.Micros(), want, resultText(r))
	}
}

func ban(t testing.TB, h Harness) {
	o := newOffender(t, h, ratelimit.Penalty{Denials: 3, Within: time.Minute, Ban: 10 * time.Minute})
	other := offender{o.of("other"), o.penalty}
	other.admit(1)
	for n := range int64(2) {
		r := o.offend()
		o.banned(r, 0)
		if r.Used != n+1 || r.Remaining != 2-n || r.NextAfter != time.Minute {
			t.Fatalf("denial %d of 3: got %s", n+1, resultText(r))
		}
	}
	o.banned(o.offend(), 10*time.Minute)
	o.banned(o.behave(), 10*time.Minute)
	o.wait(9 * time.Minute)
	for range 10 {
		o.banned(o.offend(), time.Minute) // a denial in a ban does not count
	}
	o.banned(o.take(o.strikes(0))[0], time.Minute)
	o.banned(other.behave(), 0)
	o.wait(time.Minute - time.Microsecond)
	o.banned(o.behave(), time.Microsecond)
	o.wait(time.Microsecond)
	o.banned(o.behave(), 0)
	o.banned(o.offend(), 0)
}

// banAlone charges where there is room: the ban is all that denies.
func banAlone(t testing.TB, h Harness) {
	o := newOffender(t, h, ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: 10 * time.Minute})
	room := o.lab.account("room", per(ratelimit.FixedWindow, 10, time.Hour))
	charges := []ratelimit.Charge{room.charge(2), room.charge(3, ratelimit.Observe), room.charge(1, ratelimit.Force)}
	room.admit(1)
	o.offend()
	for i, r := range o.take(append(charges, o.strikes(1))...) {
		if want := i < len(charges); r.Allowed != want || want && (r.Used != 1 || r.Receipt.Units != 0) {
			t.Fatalf("charge %d beside a ban: got %s", i, resultText(r))
		}
	}
	room.used(1)
	if r := o.take(append(charges, o.strikes(0))...); r[3].Allowed || r[0].Receipt.Units != 2 {
		t.Fatalf("beside a look at a ban: want it charged, got %s", resultText(r[0]))
	}
	room.used(7)
	o.wait(10 * time.Minute)
	o.take(append(charges, o.strikes(1))...)
	room.used(10) // the Observe charge did not fit
}

func banGrows(t testing.TB, h Harness) {
	o := newOffender(t, h, ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: 10 * time.Minute, Factor: 3, Max: time.Hour})
	for _, length := range []time.Duration{10 * time.Minute, 30 * time.Minute, time.Hour, time.Hour} {
		o.banned(o.offend(), length)
		o.wait(length)
		o.banned(o.behave(), 0)
	}
	o.wait(time.Hour - time.Microsecond)
	o.banned(o.offend(), time.Hour)
	o.wait(2 * time.Hour)
	if r := o.behave(); r.ResetAfter != 0 {
		t.Fatalf("want nothing remembered once the ban was over for its length, got %s", resultText(r))
	}
	o.banned(o.offend(), 10*time.Minute)
	steep := newOffender(t, h, ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: 24 * time.Hour, Factor: 1e9})
	steep.banned(steep.offend(), 24*time.Hour)
	steep.wait(24 * time.Hour)
	steep.admit(1)
	steep.banned(steep.offend(), ratelimit.MaxWindow)
	o.adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
}

func strikesExpire(t testing.TB, h Harness) {
	o := newOffender(t, h, ratelimit.Penalty{Denials: 2, Within: time.Minute, Ban: time.Hour})
	o.banned(o.offend(), 0)
	o.wait(time.Minute)
	o.banned(o.offend(), 0) // the first counts no more
	o.wait(time.Minute - time.Microsecond)
	o.banned(o.behave(), 0)
	o.banned(o.take(o.charge(1), o.strikes(0))[1], 0) // only looks
	o.banned(o.offend(), time.Hour)
	(account{lab: o.lab, space: o.penalty, key: o.key}).adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
	o.banned(o.behave(), 0)
	o.banned(o.offend(), 0)
}

// changedPenalty opens other penalties of one Prefix, as a new configuration does:
// what was counted stays, and so does a ban.
func changedPenalty(t testing.TB, h Harness) {
	o := newOffender(t, h, ratelimit.Penalty{Denials: 5, Within: time.Minute, Ban: 10 * time.Minute})
	change := func(p ratelimit.Penalty) {
		o.penalty = ratelimit.NewPenaltySpace("penalty", p)
		o.open(o.penalty)
	}
	for range 3 {
		o.banned(o.offend(), 0)
	}
	change(ratelimit.Penalty{Denials: 4, Within: time.Minute, Ban: 10 * time.Minute})
	if r := o.behave(); r.Used != 3 || r.Remaining != 1 {
		t.Fatalf("3 denials of 4: got %s", resultText(r))
	}
	change(ratelimit.Penalty{Denials: 2, Within: time.Minute, Ban: 20 * time.Minute})
	if r := o.behave(); r.Used != 3 || r.Remaining != 0 {
		t.Fatalf("3 denials of 2, none since it was 5: got %s", resultText(r))
	}
	o.banned(o.offend(), 20*time.Minute)
	change(ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: 20 * time.Minute, Factor: 3})
	o.banned(o.behave(), 20*time.Minute)
	o.wait(20 * time.Minute)
	o.banned(o.offend(), time.Hour)
	o.wait(time.Hour)
	change(ratelimit.Penalty{Denials: 1, Within: time.Minute, Ban: 20 * time.Minute, Factor: 3, Max: 30 * time.Minute})
	o.banned(o.offend(), 30*time.Minute)
}

func penaltyRange(t testing.TB, h Harness) {
	l := newLab(t, h)
	for _, p := range []ratelimit.Penalty{
		{Denials: 10_001, Within: time.Minute, Ban: time.Minute},
		{Denials: 0, Within: time.Minute, Ban: time.Minute},
		{Denials: 1, Within: 0, Ban: time.Minute},
		{Denials: 1, Within: time.Minute, Ban: 367 * 24 * time.Hour},
		{Denials: 1, Within: time.Minute, Ban: time.Minute, Factor: 0.5},
		{Denials: 1, Within: time.Minute, Ban: time.Minute, Max: time.Second},
	} {
		if l.store.Open(ratelimit.NewPenaltySpace("penalty", p)) == nil {
			t.Errorf("Open of %+v: want it refused", p)
		}
	}
}
