package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// concurrentChecks hold exact counts under concurrent callers. They find most under
// the race detector.
func concurrentChecks(h Harness) []check {
	window := []ratelimit.Algorithm{ratelimit.FixedWindow}
	const group = "concurrent callers"
	return slices.Concat(
		eachAlgorithm("500 callers of one key are admitted exactly", hotKey),
		eachAlgorithm("single and triple charges count exactly", singlesAndTriples),
		[]check{
			{group, "that charge and give back leave nothing", window, "", chargeAndRefund},
			{group, "of keys in any order do not wait in a circle", window, unless(h.Lacks.AcrossSlots, "Takes across slots"), crossing},
			{group, "of many keys do not disturb each other", window, "", manyKeys},
		},
	)
}

// together calls f n times at once, and fails the test where it returns an error.
func together(t testing.TB, n int, f func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	failed := make([]error, n)
	for i := range n {
		wg.Go(func() {
			<-start
			failed[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
}

// tryTake charges without failing a test, which only the test's own goroutine may.
func (l *lab) tryTake(charges ...ratelimit.Charge) ([]ratelimit.Result, error) {
	results := make([]ratelimit.Result, len(charges))
	err := l.store.Take(context.Background(), charges, results)
	return results, err
}

func hotKey(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 100, time.Hour))
	var admitted atomic.Int64
	together(t, 500, func(int) error {
		r, err := acc.tryTake(acc.charge(1))
		admitted.Add(r[0].Receipt.Units)
		return err
	})
	if admitted.Load() != 100 {
		t.Fatalf("500 callers of 100 an hour: want 100 admitted, got %d", admitted.Load())
	}
	acc.used(100)
	acc.deny(1)
}

// singlesAndTriples charges three keys one by one and all at once.
func singlesAndTriples(t testing.TB, h Harness, a ratelimit.Algorithm) {
	l := newLab(t, h)
	accounts := []account{
		l.account("first", per(a, 90, time.Hour)), l.account("second", per(a, 60, time.Hour)), l.account("third", per(a, 120, time.Hour)),
	}
	var counts [3]atomic.Int64
	var triples atomic.Int64
	together(t, 200, func(i int) error {
		if i%2 == 0 {
			acc := accounts[i/2%3]
			r, err := l.tryTake(acc.charge(1))
			counts[i/2%3].Add(r[0].Receipt.Units)
			return err
		}
		order := []int{i % 3, (i + 1) % 3, (i + 2) % 3}
		charges := make([]ratelimit.Charge, 3)
		for j, k := range order {
			charges[j] = accounts[k].charge(1)
		}
		r, err := l.tryTake(charges...)
		if units := r[0].Receipt.Units; units != r[1].Receipt.Units || units != r[2].Receipt.Units {
			return errors.New("a Take charged one key and not another")
		}
		triples.Add(r[0].Receipt.Units)
		return err
	})
	for i, acc := range accounts {
		acc.used(counts[i].Load() + triples.Load())
	}
	if full := accounts[1].look(); full.Remaining != 0 {
		t.Fatalf("133 tries at 60: want it full, got %s", resultText(full))
	}
}

func chargeAndRefund(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 1000, time.Hour))
	together(t, 100, func(i int) error {
		r, err := acc.tryTake(acc.charge(int64(1 + i%5)))
		if err != nil || !r[0].Allowed {
			return errors.Join(err, errors.New("want it admitted"))
		}
		adjustments := []ratelimit.Adjustment{{
			Op: ratelimit.Refund, Space: acc.space, Key: []byte(acc.key), Limit: acc.limit, Units: r[0].Receipt.Units, Receipt: r[0].Receipt,
		}}
		return acc.store.Adjust(context.Background(), adjustments)
	})
	acc.used(0)
}

func crossing(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 1<<20, time.Hour))
	keys := []account{acc.of("a"), acc.of("b"), acc.of("c"), acc.of("d")}
	together(t, 64, func(i int) error {
		for n := range 8 {
			one, two := keys[(i+n)%4], keys[(i*3+n+1)%4]
			if _, err := acc.tryTake(one.charge(1), two.charge(1), one.charge(1)); err != nil {
				return err
			}
		}
		return nil
	})
	var sum int64
	for _, k := range keys {
		sum += k.look().Used
	}
	if sum != 64*8*3 {
		t.Fatalf("want %d charged in all, got %d", 64*8*3, sum)
	}
}

func manyKeys(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 10, time.Hour))
	together(t, 50, func(i int) error {
		mine := acc.of(string(rune('A' + i)))
		for n := range int64(12) {
			r, err := mine.tryTake(mine.charge(1))
			if err != nil {
				return err
			}
			if want := min(n+1, 10); r[0].Used != want || r[0].Allowed != (n < 10) {
				return errors.New("want the count of one caller, got " + resultText(r[0]))
			}
		}
		return nil
	})
}
