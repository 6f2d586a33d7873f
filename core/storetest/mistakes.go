package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// mistakeChecks hold that what makes no sense is an error, and nothing else.
func mistakeChecks(h Harness) []check {
	const group = "a mistake"
	window := []ratelimit.Algorithm{ratelimit.FixedWindow}
	return slices.Concat(
		eachAlgorithm("a wrong cost or limit is an error and charges nothing", wrongCharge),
		eachAlgorithm("a correction by a wrong number or limit is an error and changes nothing", wrongAdjustment),
		[]check{
			{group, "in the limit of a Spill is an error", window, unless(h.Lacks.Spills, "spills"), wrongSpill},
			{group, "is a space that was never opened", window, "", neverOpened},
			{group, "is to open a space of nothing", nil, "", opensNothing},
		},
	)
}

// refused fails the test unless f returns an error, and returns rather than panics.
func (l *lab) refused(what string, f func() error) {
	l.Helper()
	defer func() {
		if r := recover(); r != nil {
			l.Fatalf("%s: want an error, got a panic: %v", what, r)
		}
	}()
	if err := f(); !errors.Is(err, ratelimit.ErrMisuse) {
		l.Fatalf("%s: want an error that wraps ErrMisuse, got %v", what, err)
	}
}

func (l *lab) refusedTake(charges ...ratelimit.Charge) {
	l.Helper()
	l.refused(step{charges: charges}.String(), func() error {
		return l.store.Take(context.Background(), charges, make([]ratelimit.Result, len(charges)))
	})
}

func (l *lab) refusedAdjust(a ratelimit.Adjustment) {
	l.Helper()
	l.refused(step{adjust: a}.String(), func() error {
		return l.store.Adjust(context.Background(), []ratelimit.Adjustment{a})
	})
}

// wrong returns limits that are none, or not of the space of l.
func wrong(l ratelimit.Limit) []ratelimit.Limit {
	with := func(change func(l *ratelimit.Limit)) ratelimit.Limit {
		changed := l
		change(&changed)
		return changed
	}
	limits := []ratelimit.Limit{
		{},
		with(func(l *ratelimit.Limit) { l.Quota = 0 }),
		with(func(l *ratelimit.Limit) { l.Quota = -1 }),
		with(func(l *ratelimit.Limit) { l.Quota = math.MinInt64 }),
		with(func(l *ratelimit.Limit) { l.Quota = ratelimit.MaxQuota + 1 }),
		with(func(l *ratelimit.Limit) { l.Quota = math.MaxInt64 }),
		with(func(l *ratelimit.Limit) { l.Burst = -1 }),
		with(func(l *ratelimit.Limit) { l.Burst = math.MinInt64 }),
		with(func(l *ratelimit.Limit) { l.Burst = ratelimit.MaxQuota + 1 }),
		with(func(l *ratelimit.Limit) { l.Window = 0 }),
		with(func(l *ratelimit.Limit) { l.Window *= 2 }),
		with(func(l *ratelimit.Limit) { l.Algorithm = (l.Algorithm + 1) % (ratelimit.SlidingCounter + 1) }),
		with(func(l *ratelimit.Limit) { l.Algorithm = 255 }),
	}
	if l.Algorithm == ratelimit.GCRA { // 2^31 units, 6 s each
		limits = append(limits, with(func(l *ratelimit.Limit) { l.Burst = ratelimit.MaxQuota }))
	}
	return limits
}

func wrongCharge(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	acc.admit(3)
	refused := func(c ratelimit.Charge) {
		acc.refusedTake(c)
		acc.used(3)
		acc.refusedTake(c, acc.charge(1))
		acc.refusedTake(acc.charge(1), c)
		acc.used(3)
	}
	for _, mode := range []ratelimit.Mode{ratelimit.Enforce, ratelimit.Observe, ratelimit.Force} {
		for _, cost := range []int64{-1, -1 << 40, math.MinInt64} {
			refused(acc.charge(cost, mode))
		}
		for _, l := range wrong(acc.limit) {
			refused(acc.under(l).charge(1, mode))
			refused(acc.under(l).charge(0, mode))
		}
	}
	acc.admit(7)
	acc.deny(1)
}

func wrongAdjustment(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	receipt := acc.admit(3).Receipt
	refused := func(op ratelimit.Op, l ratelimit.Limit, units int64) {
		acc.refusedAdjust(ratelimit.Adjustment{Op: op, Space: acc.space, Key: []byte(acc.key), Limit: l, Units: units, Receipt: receipt})
		acc.used(3)
	}
	for _, op := range []ratelimit.Op{ratelimit.Refund, ratelimit.Extra} {
		for _, units := range []int64{-1, -1 << 40, math.MinInt64} {
			refused(op, acc.limit, units)
		}
		for _, l := range wrong(acc.limit) {
			refused(op, l, 1)
		}
	}
	acc.adjust(ratelimit.Refund, 3, receipt)
	acc.used(0)
	acc.admit(10)
}

func wrongSpill(t testing.TB, h Harness) {
	l := newLab(t, h)
	plan := l.account("plan", per(ratelimit.FixedWindow, 5, time.Minute))
	credits := l.account("credits", per(ratelimit.FixedWindow, 100, 24*time.Hour))
	for _, limit := range wrong(credits.limit) {
		l.refusedTake(plan.charge(7), credits.under(limit).charge(1, ratelimit.Spill))
	}
	l.take(plan.charge(7), credits.charge(1, ratelimit.Spill))
	plan.used(5)
	credits.used(2)
}

// neverOpened asks a store where nothing was ever opened, and one where something
// else was.
func neverOpened(t testing.TB, h Harness) {
	limit := per(ratelimit.FixedWindow, 10, time.Minute)
	l := newLab(t, h)
	stranger := account{l, ratelimit.NewSpace("stranger", limit), "key", limit}
	strangers := func() {
		l.refusedTake(stranger.charge(1))
		l.refusedTake(stranger.charge(0))
		for op := ratelimit.Refund; op <= ratelimit.Reset; op++ {
			l.refusedAdjust(ratelimit.Adjustment{Op: op, Space: stranger.space, Key: []byte("key"), Limit: limit, Units: 1})
		}
	}
	strangers()
	acc := l.account("policy", limit)
	acc.admit(3)
	strangers()
	l.refusedTake(acc.charge(1), stranger.charge(1))
	l.refusedTake(stranger.charge(1), acc.charge(1))
	acc.used(3)
	l.open(stranger.space)
	stranger.used(0)
}

func opensNothing(t testing.TB, h Harness) {
	l := newLab(t, h)
	if l.store.Open(&ratelimit.Space{Policy: "policy", Prefix: []byte("policy:fw:60000000:")}) == nil {
		l.Fatalf("Open of a space without a limit or penalty: want an error, got none")
	}
}
