package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// adjustChecks hold what corrections, changed limits and leases do.
func adjustChecks(h Harness) []check {
	const refunds, leases = "a refund", "leases"
	noLeases := unless(h.Lacks.Leases, "leases")
	return slices.Concat(
		eachAlgorithm("a refund gives back and never lifts above full", refund),
		eachAlgorithm("a refund after the state is gone does nothing", lateRefund),
		eachAlgorithm("an extra charge runs into debt", extra),
		eachAlgorithm("Reset forgets the key and no other", reset),
		eachAlgorithm("a raised limit admits at once and a lowered one refills", changedLimit),
		[]check{
			{refunds, "of a fixed window stays in its window", []ratelimit.Algorithm{ratelimit.FixedWindow}, "", fixedRefund},
			{refunds, "of a sliding counter reaches the window before", []ratelimit.Algorithm{ratelimit.SlidingCounter}, "", counterRefund},
			{refunds, "of a log comes out of its entry", []ratelimit.Algorithm{ratelimit.SlidingLog}, "", logRefund},
			{refunds, "of a queue needs the last place", []ratelimit.Algorithm{ratelimit.LeakyBucket}, "", queueRefund},
			{refunds, "of a whole queue is made from its end", []ratelimit.Algorithm{ratelimit.LeakyBucket}, "", queueUndone},
			{"a full log", "joins forced charges to the newest", []ratelimit.Algorithm{ratelimit.SlidingLog}, "", fullLog},
			{leases, "count until they are given back", nil, noLeases, leaseHeld},
			{leases, "lapse after the window unless renewed", nil, noLeases, leaseRenewed},
		},
	)
}

func refund(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	acc.admit(4)
	second := acc.admit(5).Receipt
	acc.used(9)
	second = acc.adjust(ratelimit.Refund, 2, second)
	if second.Units != 3 {
		t.Fatalf("receipt of 5 with 2 given back: want 3 units, got %d", second.Units)
	}
	acc.used(7)
	acc.adjust(ratelimit.Refund, 0, second)
	acc.used(7)
	if second = acc.adjust(ratelimit.Refund, 3, second); second.Units != 0 {
		t.Fatalf("receipt with all given back: want 0 units, got %d", second.Units)
	}
	acc.used(4)
	acc.adjust(ratelimit.Refund, 1<<31, acc.admit(2).Receipt)
	r := acc.look()
	if r.Used < 0 || r.Remaining > 10 {
		t.Fatalf("after a refund of more than was charged: got %s", resultText(r))
	}
	acc.admit(r.Remaining)
	acc.deny(1)
}

func lateRefund(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	receipt := acc.admit(4).Receipt
	acc.wait(3 * time.Minute)
	acc.adjust(ratelimit.Refund, 4, receipt)
	acc.used(0)
	acc.adjust(ratelimit.Refund, 4, receipt)
	acc.admit(10)
	acc.deny(1)
	other := acc.of("other")
	other.adjust(ratelimit.Refund, 4, receipt)
	other.used(0)
}

func extra(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	acc.admit(10)
	receipt := acc.adjust(ratelimit.Extra, 5, ratelimit.Receipt{})
	if receipt.At != newYear || receipt.Units != 5 {
		t.Fatalf("extra charge of 5: got receipt %s", receiptText(receipt))
	}
	acc.used(15)
	acc.deny(1)
	acc.adjust(ratelimit.Refund, 5, receipt)
	acc.used(10)
	acc.wait(2 * time.Minute)
	acc.used(0)
	if receipt = acc.adjust(ratelimit.Extra, 0, ratelimit.Receipt{}); receipt.Units != 0 {
		t.Fatalf("extra charge of 0: got receipt %s", receiptText(receipt))
	}
	acc.used(0)
	acc.adjust(ratelimit.Extra, 3, ratelimit.Receipt{})
	acc.used(3)
}

func reset(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	other := acc.of("other")
	acc.adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
	acc.admit(10)
	other.admit(10)
	acc.adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
	acc.used(0)
	acc.admit(10)
	other.used(10)
}

func changedLimit(t testing.TB, h Harness, a ratelimit.Algorithm) {
	low, high := per(a, 10, time.Hour), per(a, 100, time.Hour)
	acc := newLab(t, h).account("policy", low, high)
	acc.admit(10)
	acc.deny(1)
	acc.under(high).admit(90)
	acc.under(high).deny(1)
	acc.under(low).used(100)
	r := acc.under(low).deny(10)
	if r.RetryAfter == ratelimit.Never || !acc.within(r.RetryAfter) {
		t.Fatalf("10 of a lowered limit of 10: want a finite wait, got %v", r.RetryAfter)
	}
	acc.wait(r.RetryAfter)
	acc.under(low).admit(10)
}

func fixedRefund(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 10, time.Minute))
	receipt := acc.admit(8).Receipt
	acc.wait(time.Minute)
	acc.admit(8)
	acc.adjust(ratelimit.Refund, 8, receipt)
	acc.used(8)
}

func counterRefund(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.SlidingCounter, 10, time.Minute))
	receipt := acc.admit(8).Receipt
	acc.wait(time.Minute)
	second := acc.admit(2).Receipt
	acc.adjust(ratelimit.Refund, 3, receipt)
	acc.used(7)
	acc.wait(30 * time.Second)
	acc.used(4) // floor(5/2) of the window before, and 2
	acc.adjust(ratelimit.Refund, 2, second)
	acc.used(2)
	acc.wait(time.Minute)
	acc.admit(1)
	acc.adjust(ratelimit.Refund, 5, receipt)
	acc.used(1)
}

func logRefund(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.SlidingLog, 10, time.Minute))
	first := acc.admit(4).Receipt
	acc.wait(10 * time.Second)
	second := acc.admit(4).Receipt
	first = acc.adjust(ratelimit.Refund, 3, first)
	acc.used(5)
	acc.adjust(ratelimit.Refund, 3, first) // only 1 is left of the entry
	acc.used(4)
	acc.wait(50 * time.Second)
	acc.used(4)
	acc.adjust(ratelimit.Refund, 1, second)
	acc.wait(10*time.Second - time.Microsecond)
	acc.used(3)
	acc.wait(time.Microsecond)
	acc.used(0)
}

// queueRefund: 10 a second are one each 100 ms. Who stands behind a place was told
// its delay already, so that the place is lost.
func queueRefund(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.LeakyBucket, 10, time.Second))
	first := acc.admit(2).Receipt
	second := acc.admit(3).Receipt
	acc.adjust(ratelimit.Refund, 2, first)
	acc.used(5)
	acc.wait(50 * time.Millisecond)
	second = acc.adjust(ratelimit.Refund, 3, second)
	if r := acc.look(); r.ResetAfter != 150*time.Millisecond {
		t.Fatalf("want the first charge's 150ms left, got %s", resultText(r))
	}
	if r := acc.admit(1); r.Delay != 150*time.Millisecond || second.Units != 0 {
		t.Fatalf("want a delay of 150ms, got %s", resultText(r))
	}
}

// queueUndone gives up all places of a queue of 7 a second, the last one first: one
// by one, and in one call.
func queueUndone(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.LeakyBucket, 7, time.Second).WithBurst(100))
	queue := func() (undo []ratelimit.Adjustment) {
		for n := range int64(5) {
			r := acc.take(acc.charge(1+n), acc.charge(2)) // two places in one Take
			for _, r := range r {
				undo = append(undo, ratelimit.Adjustment{
					Op: ratelimit.Refund, Space: acc.space, Key: []byte(acc.key), Limit: acc.limit, Units: r.Receipt.Units, Receipt: r.Receipt,
				})
			}
			acc.wait(13 * time.Microsecond)
		}
		slices.Reverse(undo)
		return undo
	}
	for _, u := range queue() {
		if r := acc.adjust(u.Op, u.Units, u.Receipt); r.Units != 0 {
			t.Fatalf("given up: got receipt %s", receiptText(r))
		}
	}
	acc.used(0)
	acc.wait(time.Second)
	if err := acc.store.Adjust(context.Background(), queue()); err != nil {
		t.Fatal(err)
	}
	acc.used(0)
	if r := acc.admit(100); r.Delay != 0 {
		t.Fatalf("want no delay, got %s", resultText(r))
	}
}

// fullLog forces as many charges as the log holds entries and one more.
func fullLog(t testing.TB, h Harness) {
	most := h.logQuota()
	acc := newLab(t, h).account("policy", per(ratelimit.SlidingLog, most, time.Hour))
	for range most {
		acc.admit(1)
		acc.wait(time.Microsecond)
	}
	acc.deny(1)
	r := acc.ask(7, ratelimit.Force)
	if r.Receipt.Units != 7 || r.Used != most+7 {
		t.Fatalf("Force on a full log: want it charged, got %s", resultText(r))
	}
	acc.wait(time.Hour - duration(most))
	acc.used(most + 6) // the oldest has gone
	acc.wait(duration(most - 2))
	acc.used(8) // the newest, and what joined it
	acc.wait(time.Microsecond)
	acc.used(0)
	large := ratelimit.NewSpace("large", per(ratelimit.SlidingLog, most+1, time.Hour))
	if acc.store.Open(large) == nil {
		t.Fatalf("Open of a log of %d: want it refused", most+1)
	}
}
