package ratelimit_test

import (
	"slices"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// A denial by one policy leaves the others as they were, in either order.
func TestAllOrNothing(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		room := pol("room", ratelimit.PerHour(50).Using(a))
		full := pol("full", ratelimit.PerHour(1).Using(a))
		for _, policies := range [][]ratelimit.Policy{{room, full}, {full, room}} {
			b := newBench(policies...)
			if d, err := b.Allow(t.Context(), "ann", 1); err != nil || !d.Allowed() {
				t.Fatalf("%v: %+v, %v", a, d, err)
			}
			before := b.left(t, "ann", room, full)
			var first ratelimit.Decision
			for i := range 100 {
				ticket := b.Begin(get("ann"))
				d := ticket.Decision()
				if i == 0 {
					first = d
				}
				if ticket.Outcome() != ratelimit.Denied || d != first || d.Policy != "full" {
					t.Fatalf("%v, denial %d: %+v, want %+v", a, i, d, first)
				}
				ticket.End(429, nil)
			}
			if got := b.left(t, "ann", room, full); !slices.Equal(got, before) {
				t.Errorf("%v, %s first: %d left, want %d", a, policies[0].Name, got, before)
			}
		}
	}
}

// The decision that binds is, of a denial, the one with the longest wait, else the
// one with the smallest share left.
func TestDecisionThatBinds(t *testing.T) {
	second, minute, hour := ratelimit.PerSecond, ratelimit.PerMinute, ratelimit.PerHour
	shadow, meter := ratelimit.Shadow(), ratelimit.Meter()
	for _, c := range []struct {
		name     string
		policies []ratelimit.Policy
		charges  int // of 1 each
		binds    string
	}{
		{"smallest share", []ratelimit.Policy{pol("a", minute(100)), pol("b", minute(10)), pol("c", minute(50))}, 1, "b"},
		{"a share, not a number", []ratelimit.Policy{pol("a", minute(5)), pol("b", hour(4000).WithBurst(4))}, 1, "b"},
		{"the first of equals", []ratelimit.Policy{pol("a", minute(9)), pol("b", minute(9))}, 1, "a"},
		{"the one that denies", []ratelimit.Policy{pol("a", minute(1000)), pol("b", second(2))}, 3, "b"},
		{"longest wait", []ratelimit.Policy{pol("a", second(2)), pol("b", hour(2)), pol("c", minute(2))}, 3, "b"},
		{"no shadow", []ratelimit.Policy{over(pol("a", hour(1)), shadow), pol("b", minute(100))}, 2, "b"},
		{"no meter", []ratelimit.Policy{over(pol("a", hour(1)), meter), pol("b", minute(100))}, 2, "b"},
		{"a meter alone", []ratelimit.Policy{over(pol("a", hour(1)), meter)}, 2, "a"},
		{"a meter before a shadow", []ratelimit.Policy{over(pol("a", hour(1)), shadow), over(pol("b", minute(100)), meter)}, 2, "b"},
		{"a shadow alone", []ratelimit.Policy{over(pol("a", hour(1)), shadow)}, 2, "a"},
		{"no shadow of a denial", []ratelimit.Policy{over(pol("a", hour(1)), shadow), pol("b", minute(1))}, 2, "b"},
	} {
		for range 2 {
			b := newBench(c.policies...)
			var d ratelimit.Decision
			for range c.charges {
				d, _ = b.Allow(t.Context(), "ann", 1)
			}
			if d.Policy != c.binds {
				t.Errorf("%s: %s binds, want %s", c.name, d.Policy, c.binds)
			}
			if c.name == "the first of equals" {
				break
			}
			slices.Reverse(c.policies)
		}
	}
}

// fits tells of each decision of a ticket whether it fits and what is used.
func fits(t *ratelimit.Ticket) []tally {
	var all []tally
	for d := range t.Decisions() {
		all = append(all, tally{d.Policy, d.Fits, d.Used})
	}
	return all
}

type tally struct {
	policy string
	fits   bool
	used   int64
}

func TestShadow(t *testing.T) {
	trial := over(pol("trial", ratelimit.PerHour(2)), ratelimit.Shadow())
	api := pol("api", ratelimit.PerHour(4))
	for _, policies := range [][]ratelimit.Policy{{trial, api}, {api, trial}} {
		b := newBench(policies...)
		for i, want := range []struct {
			outcome ratelimit.Outcome
			trial   tally
			api     tally
		}{
			{ratelimit.Allowed, tally{"trial", true, 1}, tally{"api", true, 1}},
			{ratelimit.Allowed, tally{"trial", true, 2}, tally{"api", true, 2}},
			{ratelimit.Allowed, tally{"trial", false, 2}, tally{"api", true, 3}}, // it would have denied
			{ratelimit.Allowed, tally{"trial", false, 2}, tally{"api", true, 4}},
			{ratelimit.Denied, tally{"trial", false, 2}, tally{"api", false, 4}}, // the enforced one does
		} {
			ticket := b.Begin(get("ann"))
			got := fits(ticket)
			slices.SortFunc(got, func(a, b tally) int { return strings.Compare(b.policy, a.policy) })
			if ticket.Outcome() != want.outcome || !slices.Equal(got, []tally{want.trial, want.api}) {
				t.Errorf("%d: %v %v, want %+v", i, ticket.Outcome(), got, want)
			}
			if d := ticket.Decision(); d.Policy != "api" || !d.Enforced() {
				t.Errorf("%d: told is %s", i, d.Policy)
			}
			ticket.End(200, nil)
		}
	}

	// A denial charges no shadow either.
	b := newBench(over(pol("trial", ratelimit.PerHour(9)), ratelimit.Shadow()), pol("api", ratelimit.PerHour(1)))
	for range 5 {
		b.Begin(get("ann")).End(200, nil)
	}
	if got := b.left(t, "ann", over(pol("trial", ratelimit.PerHour(9)), ratelimit.Shadow())); got[0] != 8 {
		t.Errorf("the shadow has %d left, want 8", got[0])
	}
}

func TestMeter(t *testing.T) {
	meter := over(pol("billed", ratelimit.PerHour(2)), ratelimit.Meter())
	b := newBench(meter)
	for i, want := range []tally{{"billed", true, 1}, {"billed", true, 2}, {"billed", false, 3}, {"billed", false, 4}} {
		ticket := b.Begin(get("ann"))
		d := ticket.Decision()
		if ticket.Outcome() != ratelimit.Allowed || d.Enforced() || !slices.Equal(fits(ticket), []tally{want}) || d.Remaining != max(0, 2-want.used) {
			t.Errorf("%d: %v %+v, want %+v", i, ticket.Outcome(), d, want)
		}
		ticket.End(200, nil)
	}

	// It never hides a denial, and is not charged by one.
	b = newBench(over(pol("billed", ratelimit.PerHour(9)), ratelimit.Meter()), pol("api", ratelimit.PerHour(1)))
	for i, want := range []string{"allowed 0, 0 left", "denied 429, 0 left", "denied 429, 0 left"} {
		if got := b.begin(get("ann")); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if got := b.left(t, "ann", over(pol("billed", ratelimit.PerHour(9)), ratelimit.Meter())); got[0] != 8 {
		t.Errorf("the meter has %d left, want 8", got[0])
	}
}

// A decision says of itself what it is.
func TestDecisionSays(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerMinute(1)))
	d, _ := b.Allow(t.Context(), "ann", 1)
	if !d.At().Equal(b.clock.Now()) || d.Outcome.String() != "allowed" || d.Cost != 1 || !d.Fits || d.Used != 1 {
		t.Errorf("%+v at %v", d, d.At())
	}
	if !(ratelimit.Decision{}).At().IsZero() {
		t.Error("a decision without a store has an instant")
	}
	for o, name := range map[ratelimit.Outcome]string{
		ratelimit.Skipped: "skipped", ratelimit.Allowed: "allowed", ratelimit.Denied: "denied",
		ratelimit.Unavailable: "unavailable", ratelimit.Errored: "errored",
	} {
		if o.String() != name {
			t.Errorf("%d: %q, want %q", o, o, name)
		}
	}
}
