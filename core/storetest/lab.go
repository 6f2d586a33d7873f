package storetest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/internal/clock"
)

// newYear is the instant that most tests start at, µs since 1970: a multiple of
// every window that divides a day.
const newYear = 1_767_225_600_000_000

// lab is a store under test with its clock. Its methods fail the test where the
// store returns an error.
type lab struct {
	testing.TB
	clock *clock.Clock
	store ratelimit.Store
}

func newLab(t testing.TB, h Harness) *lab {
	t.Helper()
	c := &clock.Clock{}
	c.Set(newYear)
	return &lab{t, c, h.Open(t, c.Now)}
}

// wait moves the clock; a negative d moves it back.
func (l *lab) wait(d time.Duration) { l.clock.Add(micros(d)) }

func (l *lab) open(s *ratelimit.Space) {
	l.Helper()
	if err := l.store.Open(s); err != nil {
		l.Fatalf("Open(%s): %v", spaceText(s), err)
	}
}

func (l *lab) take(charges ...ratelimit.Charge) []ratelimit.Result {
	l.Helper()
	results := make([]ratelimit.Result, len(charges))
	if err := l.store.Take(context.Background(), charges, results); err != nil {
		l.Fatalf("Take(%v): %v", step{charges: charges}, err)
	}
	return results
}

// account is one key of a space, under a limit.
type account struct {
	*lab
	space *ratelimit.Space
	key   string
	limit ratelimit.Limit
}

// account opens a space for a policy of one limit, and of others that it may be
// changed to.
func (l *lab) account(policy string, limit ratelimit.Limit, others ...ratelimit.Limit) account {
	l.Helper()
	space := ratelimit.NewSpace(policy, append([]ratelimit.Limit{limit}, others...)...)
	l.open(space)
	return account{l, space, "key", limit}
}

func (l *lab) leases(policy string, limit ratelimit.Limit) account {
	l.Helper()
	space := ratelimit.NewLeaseSpace(policy, limit)
	l.open(space)
	return account{l, space, "key", limit}
}

func (a account) of(key string) account { a.key = key; return a }

func (a account) under(limit ratelimit.Limit) account { a.limit = limit; return a }

func (a account) charge(cost int64, modes ...ratelimit.Mode) ratelimit.Charge {
	c := ratelimit.Charge{Space: a.space, Key: []byte(a.key), Limit: a.limit, Cost: cost}
	for _, m := range modes {
		c.Mode = m
	}
	return c
}

// ask charges an account alone.
func (a account) ask(cost int64, modes ...ratelimit.Mode) ratelimit.Result {
	a.Helper()
	return a.take(a.charge(cost, modes...))[0]
}

func (a account) look() ratelimit.Result { a.Helper(); return a.ask(0) }

// admit charges an account alone, and fails the test where that is denied.
func (a account) admit(cost int64) ratelimit.Result {
	a.Helper()
	r := a.ask(cost)
	if !r.Allowed {
		a.Fatalf("%d of %s at %d: want it admitted, got %s", cost, limitText(a.limit), a.clock.Micros(), resultText(r))
	}
	return r
}

// deny charges an account alone, and fails the test where that is admitted.
func (a account) deny(cost int64) ratelimit.Result {
	a.Helper()
	r := a.ask(cost)
	if r.Allowed || r.Receipt.Units != 0 {
		a.Fatalf("%d of %s at %d: want it denied, got %s", cost, limitText(a.limit), a.clock.Micros(), resultText(r))
	}
	return r
}

func (a account) adjust(op ratelimit.Op, units int64, receipt ratelimit.Receipt) ratelimit.Receipt {
	a.Helper()
	adjustments := []ratelimit.Adjustment{{Op: op, Space: a.space, Key: []byte(a.key), Limit: a.limit, Units: units, Receipt: receipt}}
	if err := a.store.Adjust(context.Background(), adjustments); err != nil {
		a.Fatalf("%s of %d: %v", opNames[op], units, err)
	}
	return adjustments[0].Receipt
}

// used fails the test where something else is in use.
func (a account) used(want int64) {
	a.Helper()
	if got := a.look(); got.Used != want || got.Remaining != max(0, a.limit.Capacity()-want) {
		a.Fatalf("%s of %s at %d: want used %d, got %s", a.key, limitText(a.limit), a.clock.Micros(), want, resultText(got))
	}
}

// same fails the test where two results differ in anything but the receipt.
func (l *lab) same(what string, want, got ratelimit.Result) {
	l.Helper()
	want.Receipt, got.Receipt = ratelimit.Receipt{}, ratelimit.Receipt{}
	if err := differ(want, got); err != nil {
		l.Fatalf("%s: %v", what, err)
	}
}

// per returns a limit of an algorithm.
func per(a ratelimit.Algorithm, n int64, window time.Duration) ratelimit.Limit {
	return ratelimit.Per(n, window).Using(a)
}

// eachAlgorithm returns one check an algorithm.
func eachAlgorithm(group string, run func(t testing.TB, h Harness, a ratelimit.Algorithm)) []check {
	var out []check
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		out = append(out, check{group, a.String(), []ratelimit.Algorithm{a}, "", func(t testing.TB, h Harness) { run(t, h, a) }})
	}
	return out
}

// situations calls f for accounts that something was charged to, some into debt,
// some under another limit since, some with a clock that stepped back.
func situations(t testing.TB, h Harness, a ratelimit.Algorithm, f func(g *generator, acc account)) {
	t.Helper()
	for n := range uint64(80) {
		scope := &scope{TB: t}
		g := &generator{Rand: rand.New(rand.NewPCG(h.seed(), n)), h: h}
		acc := g.situation(newLab(scope, h), a)
		f(g, acc)
		scope.close()
		if t.Failed() {
			t.Fatalf("seed %d, situation %d", h.seed(), n)
		}
	}
}

func (g *generator) situation(l *lab, a ratelimit.Algorithm) account {
	window := g.window()
	first := g.limit(a, window, nil)
	second := g.limit(a, window, []ratelimit.Limit{first})
	acc := l.account("policy", first, second)
	for range 1 + g.IntN(6) {
		mode := pick(g, ratelimit.Enforce, ratelimit.Enforce, ratelimit.Enforce, ratelimit.Force)
		acc.ask(g.size(1, first.Capacity()), mode)
		l.wait(duration(g.size(0, micros(window))))
	}
	if g.IntN(3) == 0 {
		acc.limit = second
	}
	acc.ask(max(1, acc.look().Remaining))
	if g.IntN(3) == 0 {
		l.wait(-duration(g.size(1, 5_000_000)))
	}
	return acc
}
