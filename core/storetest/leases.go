package storetest

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

func leaseHeld(t testing.TB, h Harness) {
	acc := newLab(t, h).leases("policy", per(ratelimit.SlidingLog, 2, time.Minute))
	first := acc.admit(1).Receipt
	acc.wait(time.Second)
	second := acc.admit(1).Receipt
	if r := acc.deny(1); r.RetryAfter != 59*time.Second {
		t.Fatalf("want to wait for the oldest lease to lapse, 59s, got %v", r.RetryAfter)
	}
	acc.adjust(ratelimit.Refund, 1, first)
	acc.adjust(ratelimit.Refund, 1, first) // twice gives back once
	acc.used(1)
	acc.admit(1)
	acc.deny(1)
	acc.adjust(ratelimit.Refund, 1, second)
	acc.used(1)
}

func leaseRenewed(t testing.TB, h Harness) {
	acc := newLab(t, h).leases("policy", per(ratelimit.SlidingLog, 3, time.Minute))
	kept := acc.admit(2).Receipt
	lapses := acc.admit(1).Receipt
	acc.wait(40 * time.Second)
	kept = acc.adjust(ratelimit.Renew, 0, kept)
	if kept.At != newYear+40_000_000 || kept.Units != 2 {
		t.Fatalf("renewed after 40 s: got receipt %s", receiptText(kept))
	}
	acc.used(3)
	acc.wait(20 * time.Second)
	acc.used(2)
	acc.admit(1)
	acc.deny(1)
	lapses = acc.adjust(ratelimit.Renew, 0, lapses) // a new charge: it had lapsed
	acc.used(4)
	acc.adjust(ratelimit.Refund, 1, lapses)
	acc.adjust(ratelimit.Refund, 2, kept)
	acc.used(1)
	if r := acc.adjust(ratelimit.Renew, 0, ratelimit.Receipt{At: kept.At}); r.Units != 0 {
		t.Fatalf("renewed with nothing held: got receipt %s", receiptText(r))
	}
	acc.used(1)
}
