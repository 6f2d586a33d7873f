package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// chargeChecks hold what several charges, and those that do not fit, do to each other.
func chargeChecks(h Harness) []check {
	const taking = "a Take"
	window := []ratelimit.Algorithm{ratelimit.FixedWindow}
	queue := []ratelimit.Algorithm{ratelimit.LeakyBucket}
	return slices.Concat(
		eachAlgorithm("denials leave no trace", denialsLeaveNoTrace),
		eachAlgorithm("all charges are made or none, in every order", allOrNothing),
		eachAlgorithm("the second charge of a key sees the first", sameKeyTwice),
		eachAlgorithm("Observe and Force never deny", modes),
		[]check{
			{taking, "of a denied queue tells no delay", queue, "", deniedQueue},
			{taking, "of no charges does nothing", window, "", emptyTake},
			{taking, "keeps neither keys nor charges", window, "", keepsNothing},
			{taking, "spills what an Enforce charge has no quota for", window, unless(h.Lacks.Spills, "spills"), spill},
			{taking, "spills nothing where the rest does not fit", window, unless(h.Lacks.Spills, "spills"), spillDenied},
		},
	)
}

// denialsLeaveNoTrace gives two keys one history, but 1,000 denials to one of them.
func denialsLeaveNoTrace(t testing.TB, h Harness, a ratelimit.Algorithm) {
	plain := newLab(t, h).account("policy", per(a, 10, time.Minute))
	pestered := plain.of("pestered")
	for _, cost := range []int64{7, 2} {
		plain.admit(cost)
		pestered.admit(cost)
		plain.wait(11 * time.Millisecond)
	}
	for range 500 {
		pestered.deny(3)
		pestered.deny(11)
		plain.wait(time.Millisecond)
	}
	for _, wait := range []time.Duration{0, time.Second, 13 * time.Second, time.Minute} {
		plain.wait(wait)
		for _, cost := range []int64{0, 2, 1} {
			plain.same("after 1,000 denials", plain.ask(cost), pestered.ask(cost))
		}
	}
}

// permutations calls f with every order of the charges.
func permutations(charges []ratelimit.Charge, f func([]ratelimit.Charge)) {
	if len(charges) == 0 {
		f(nil)
		return
	}
	for i := range charges {
		rest := slices.Delete(slices.Clone(charges), i, i+1)
		permutations(rest, func(order []ratelimit.Charge) { f(append([]ratelimit.Charge{charges[i]}, order...)) })
	}
}

func allOrNothing(t testing.TB, h Harness, a ratelimit.Algorithm) {
	l := newLab(t, h)
	room := l.account("room", per(a, 100, time.Hour))
	full := l.account("full", per(a, 2, time.Hour))
	some := l.account("some", per(a, 10, time.Hour))
	room.admit(1)
	full.admit(2)
	some.admit(5)
	charges := []ratelimit.Charge{room.charge(3), full.charge(1), some.charge(5)}
	before := []ratelimit.Result{room.look(), full.look(), some.look()}
	permutations(charges, func(order []ratelimit.Charge) {
		for range 100 {
			for i, r := range l.take(order...) {
				if fits := order[i].Space != full.space; r.Allowed != fits || (r.RetryAfter > 0) == fits {
					l.Fatalf("%v: charge %d: want Allowed %t, got %s", step{charges: order}, i, fits, resultText(r))
				}
			}
		}
		for i, acc := range []account{room, full, some} {
			l.same("after denied Takes", before[i], acc.look())
		}
	})
	charges[1].Cost = 0
	permutations(charges, func(order []ratelimit.Charge) {
		if slices.IndexFunc(order, func(c ratelimit.Charge) bool { return c.Space == some.space }) == 2 {
			order[2].Cost = 0
		}
		for i, r := range l.take(order...) {
			if !r.Allowed && order[i].Space != some.space {
				l.Fatalf("%v: charge %d: want it to fit, got %s", step{charges: order}, i, resultText(r))
			}
		}
	})
}

func sameKeyTwice(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	r := acc.take(acc.charge(4), acc.charge(5))
	if !r[0].Allowed || !r[1].Allowed || r[0].Remaining != 6 || r[1].Remaining != 1 {
		t.Fatalf("4 and 5 of 10: want remaining 6 and 1, got\n\t%s\n\t%s", resultText(r[0]), resultText(r[1]))
	}
	r = acc.take(acc.charge(1), acc.charge(1))
	if !r[0].Allowed || r[1].Allowed || r[1].RetryAfter <= 0 {
		t.Fatalf("1 and 1 of the 1 that is left: want the second denied, got\n\t%s\n\t%s", resultText(r[0]), resultText(r[1]))
	}
	acc.used(9)
	acc.wait(r[1].RetryAfter - time.Microsecond)
	if r := acc.take(acc.charge(1), acc.charge(1)); r[1].Allowed {
		t.Fatal("1 µs less than RetryAfter admits both")
	}
	acc.wait(time.Microsecond)
	if r := acc.take(acc.charge(1), acc.charge(1)); !r[0].Allowed || !r[1].Allowed {
		t.Fatal("after RetryAfter both are not admitted")
	}
	acc.wait(time.Hour)
	if r := acc.take(acc.charge(6), acc.charge(5)); !r[0].Allowed || r[1].RetryAfter != ratelimit.Never {
		t.Fatalf("6 and 5 of 10: want Never, got %s", resultText(r[1]))
	}
}

func modes(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Second))
	if r := acc.ask(8, ratelimit.Observe); !r.Allowed || r.Receipt.Units != 8 || r.Used != 8 {
		t.Fatalf("Observe of 8 of 10: want it charged, got %s", resultText(r))
	}
	if r := acc.ask(3, ratelimit.Observe); r.Allowed || r.Receipt.Units != 0 || r.Used != 8 || r.RetryAfter <= 0 {
		t.Fatalf("Observe of 3 of 2: want it to not fit and not be charged, got %s", resultText(r))
	}
	if r := acc.ask(7, ratelimit.Force); r.Allowed || r.Receipt.Units != 7 || r.Used != 15 || r.Remaining != 0 || r.RetryAfter <= 0 {
		t.Fatalf("Force of 7 of 2: want it charged into debt, got %s", resultText(r))
	}
	acc.deny(1)
	r := acc.take(acc.charge(1, ratelimit.Force), acc.charge(1))
	if r[1].Allowed || r[0].Receipt.Units != 0 {
		t.Fatalf("Force beside an Enforce that does not fit: want neither charged, got %s", resultText(r[0]))
	}
	acc.used(15)
	if r := acc.look(); !r.Allowed {
		t.Fatalf("a look in debt: want it allowed, got %s", resultText(r))
	}
	if r := acc.ask(11, ratelimit.Force); r.RetryAfter != ratelimit.Never || r.Used != 26 {
		t.Fatalf("Force above the capacity: want it charged and told Never, got %s", resultText(r))
	}
	if r := acc.ask(1<<31, ratelimit.Force); r.Used != 26+1<<31 {
		t.Fatalf("Force of 2^31: want it charged, got %s", resultText(r))
	}
	if r := acc.ask(1<<31, ratelimit.Force); r.Used != maxLevel || r.Receipt.Units != maxLevel-26-1<<31 {
		t.Fatalf("Force beyond 2^32: want what there is room for charged, got %s", resultText(r))
	}
}

func deniedQueue(t testing.TB, h Harness) {
	l := newLab(t, h)
	queue := l.account("queue", per(ratelimit.LeakyBucket, 10, time.Second))
	full := l.account("full", per(ratelimit.LeakyBucket, 1, time.Hour))
	queue.admit(3)
	full.admit(1)
	r := l.take(queue.charge(1), full.charge(1))[0]
	if !r.Allowed || r.Delay != 0 {
		t.Fatalf("want no delay in a denied Take, got %s", resultText(r))
	}
	if r := queue.admit(2); r.Delay != 300*time.Millisecond || r.Receipt.End != newYear+500_000 {
		t.Fatalf("3 in the queue of 10 a second: want a delay of 300ms, got %s", resultText(r))
	}
	if r := queue.look(); r.Delay != 0 {
		t.Fatalf("want no delay of a look, got %s", resultText(r))
	}
}

func emptyTake(t testing.TB, h Harness) {
	l := newLab(t, h)
	acc := l.account("policy", per(ratelimit.FixedWindow, 2, time.Minute))
	l.take()
	if err := l.store.Adjust(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	acc.used(0)
}

// keepsNothing changes what it gave to a call as soon as that returns, as a server
// does that recycles its buffers.
func keepsNothing(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 100, time.Hour))
	key := make([]byte, 2)
	charges, results := make([]ratelimit.Charge, 1), make([]ratelimit.Result, 1)
	for round := range int64(10) {
		for i := range byte(40) {
			copy(key, []byte{'k', i})
			charges[0] = ratelimit.Charge{Space: acc.space, Key: key, Limit: acc.limit, Cost: 1}
			if err := acc.store.Take(context.Background(), charges, results); err != nil {
				t.Fatal(err)
			}
			if string(key) != string([]byte{'k', i}) || charges[0].Cost != 1 {
				t.Fatal("Take changed what it was given")
			}
			if results[0].Used != round+1 {
				t.Fatalf("round %d, key %d: want used %d, got %s", round, i, round+1, resultText(results[0]))
			}
			copy(key, "xx")
		}
	}
}

func spill(t testing.TB, h Harness) {
	l := newLab(t, h)
	plan := l.account("plan", per(ratelimit.FixedWindow, 5, time.Minute))
	credits := l.account("credits", per(ratelimit.FixedWindow, 100, 24*time.Hour))
	for _, want := range [][3]int64{{3, 3, 0}, {3, 2, 1}, {4, 0, 4}, {0, 0, 0}} {
		r := l.take(plan.charge(want[0]), credits.charge(1, ratelimit.Spill))
		if !r[0].Allowed || !r[1].Allowed || r[0].Receipt.Units != want[1] || r[1].Receipt.Units != want[2] {
			t.Fatalf("cost %d: want %d and %d, got\n\t%s\n\t%s", want[0], want[1], want[2], resultText(r[0]), resultText(r[1]))
		}
	}
	plan.used(5)
	credits.used(5)
}

func spillDenied(t testing.TB, h Harness) {
	l := newLab(t, h)
	plan := l.account("plan", per(ratelimit.FixedWindow, 5, time.Minute))
	credits := l.account("credits", per(ratelimit.FixedWindow, 4, time.Hour))
	plan.admit(3)
	for cost, want := range map[int64]time.Duration{7: time.Minute, 9: time.Minute, 10: ratelimit.Never} {
		r := l.take(plan.charge(cost), credits.charge(1, ratelimit.Spill))
		for _, r := range r {
			if r.Allowed || r.RetryAfter != want || r.Receipt.Units != 0 {
				t.Fatalf("cost %d of 2 and 4: want both denied for %v, got %s", cost, want, resultText(r))
			}
		}
	}
	plan.used(3)
	credits.used(0)
	l.wait(time.Minute)
	if r := l.take(plan.charge(9), credits.charge(1, ratelimit.Spill)); r[0].Receipt.Units != 5 || r[1].Receipt.Units != 4 {
		t.Fatalf("after RetryAfter: want 5 and 4 charged, got\n\t%s\n\t%s", resultText(r[0]), resultText(r[1]))
	}
}
