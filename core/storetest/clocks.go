package storetest

import (
	"math"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// clockChecks hold what time does: at edges, after long idleness, stepping back.
func clockChecks() []check {
	sliding := []ratelimit.Algorithm{ratelimit.SlidingCounter}
	return slices.Concat(
		eachAlgorithm("idle for 200 years is full and not more", longIdle),
		eachAlgorithm("clocks that differ by 5 s admit no more", differingClocks),
		eachAlgorithm("a clock that steps back counts as the last write's", stepBack),
		eachAlgorithm("a clock that steps back too far starts anew", stepFarBack),
		eachAlgorithm("time before 1970 and beyond 2^53 µs stands still", endsOfTime),
		[]check{
			{"parts of a microsecond", "do not count", []ratelimit.Algorithm{ratelimit.SlidingLog}, "", partsOfMicrosecond},
			{"edges of a window", "fixed_window", []ratelimit.Algorithm{ratelimit.FixedWindow}, "", fixedEdges},
			{"edges of a window", "sliding_log", []ratelimit.Algorithm{ratelimit.SlidingLog}, "", logEdges},
			{"edges of a window", "sliding_counter", sliding, "", counterEdges},
			{"edges of a window", "two empty windows forget all", sliding, "", emptyWindows},
		},
	)
}

func longIdle(t testing.TB, h Harness, a ratelimit.Algorithm) {
	for _, limit := range []ratelimit.Limit{per(a, 10, time.Minute), per(a, min(h.logQuota(), 1_000_000), ratelimit.MaxWindow), per(a, 3, ratelimit.MinWindow)} {
		acc := newLab(t, h).account("policy", limit)
		n := limit.Quota
		acc.admit(n)
		acc.clock.Add(twoCenturies)
		acc.used(0)
		acc.deny(n + 1)
		acc.admit(n)
		acc.deny(1)
	}
}

// differingClocks lets callers whose clocks differ charge one key for a minute. A
// stale instant must not count the time since the last write twice.
func differingClocks(t testing.TB, h Harness, a ratelimit.Algorithm) {
	acc := newLab(t, h).account("policy", per(a, 10, time.Minute))
	start, total := acc.clock.Micros(), int64(0)
	for ms := range int64(600) {
		skew := []int64{5_000_000, -5_000_000, 0, 4_999_999}[ms%4]
		acc.clock.Set(start + ms*100_000 + skew)
		total += acc.ask(1).Receipt.Units
	}
	// The instants lie within a span of 70 s less 100 ms, and in two windows.
	most := int64(20)
	if a <= ratelimit.LeakyBucket {
		most = 10 + 11
	}
	if total > most {
		t.Fatalf("10 a minute over 70 s: want at most %d admitted, got %d", most, total)
	}
	if total < 10 {
		t.Fatalf("10 a minute over 70 s: want at least 10 admitted, got %d", total)
	}
}

func stepBack(t testing.TB, h Harness, a ratelimit.Algorithm) {
	for _, window := range []time.Duration{time.Second, time.Hour} {
		acc := newLab(t, h).account("policy", per(a, 10, window))
		acc.admit(10)
		want := acc.look()
		back := max(window, time.Minute)
		for _, d := range []time.Duration{1, time.Millisecond, back - time.Microsecond, back} {
			d = max(d, time.Microsecond)
			acc.wait(-d)
			got := acc.deny(1)
			if got.Receipt.At != newYear {
				t.Fatalf("%v before the last write: want it counted at %d, got %d", d, int64(newYear), got.Receipt.At)
			}
			if got.ResetAfter != want.ResetAfter+d || got.RetryAfter != want.NextAfter+d {
				t.Fatalf("%v before the last write: want ResetAfter %v and RetryAfter %v, got %s", d, want.ResetAfter+d, want.NextAfter+d, resultText(got))
			}
			acc.wait(d)
		}
		acc.wait(-back)
		acc.wait(acc.deny(1).RetryAfter - time.Microsecond)
		acc.deny(1)
		acc.wait(time.Microsecond)
		acc.admit(1)
	}
}

func stepFarBack(t testing.TB, h Harness, a ratelimit.Algorithm) {
	for _, window := range []time.Duration{time.Second, time.Hour} {
		acc := newLab(t, h).account("policy", per(a, 10, window))
		acc.admit(10)
		back := max(window, time.Minute) + time.Microsecond
		acc.wait(-back)
		acc.used(0)
		acc.wait(back)
		acc.used(10) // the look wrote nothing
		acc.wait(-back)
		acc.admit(4)
		acc.used(4)
		acc.clock.Set(0)
		acc.admit(10)
		acc.deny(1)
	}
}

func endsOfTime(t testing.TB, h Harness, a ratelimit.Algorithm) {
	l := newLab(t, h)
	for i, ends := range [][2]int64{{-1, 0}, {math.MinInt64 / 4, 0}, {maxTime, maxTime}, {maxTime + 1, maxTime}, {math.MaxInt64 / 4, maxTime}} {
		acc := l.account("policy", per(a, 10, time.Minute)).of(string(rune('a' + i)))
		acc.clock.Set(ends[0])
		if r := acc.admit(10); r.Receipt.At != ends[1] {
			t.Fatalf("at %d: want it counted at %d, got %d", ends[0], ends[1], r.Receipt.At)
		}
		acc.deny(1)
		acc.clock.Set(ends[1])
		acc.used(10)
	}
}

func partsOfMicrosecond(t testing.TB, h Harness) {
	now := time.UnixMicro(newYear).Add(999)
	l := &lab{t, nil, h.Open(t, func() time.Time { return now })}
	acc := l.account("policy", per(ratelimit.SlidingLog, 1, time.Second))
	if r := acc.ask(1); !r.Allowed || r.Receipt.At != newYear {
		t.Fatalf("999 ns late: want it counted at %d, got %s", int64(newYear), resultText(r))
	}
	now = now.Add(time.Second - 1000)
	if r := acc.ask(1); r.Allowed || r.RetryAfter != time.Microsecond {
		t.Fatalf("1 µs before the window's end: want a wait of 1µs, got %s", resultText(r))
	}
	now = now.Add(1)
	if r := acc.ask(1); !r.Allowed {
		t.Fatalf("at the window's end: want it admitted, got %s", resultText(r))
	}
}

func fixedEdges(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 2, time.Minute))
	acc.wait(30 * time.Second)
	acc.admit(2)
	acc.wait(30*time.Second - time.Microsecond)
	acc.deny(1)
	acc.wait(time.Microsecond)
	acc.admit(2)
	acc.wait(time.Minute - time.Microsecond)
	acc.deny(1)
	acc.wait(time.Microsecond)
	acc.admit(1)
	acc.wait(time.Minute + time.Microsecond)
	acc.used(0)
}

// logEdges: a charge made at t counts at t+W−1 and no more at t+W.
func logEdges(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.SlidingLog, 2, time.Minute))
	acc.wait(30 * time.Second)
	acc.admit(1)
	acc.admit(1)
	acc.deny(1)
	acc.wait(time.Minute - time.Microsecond)
	acc.deny(1)
	acc.wait(time.Microsecond)
	acc.admit(1)
	acc.wait(time.Microsecond)
	acc.admit(1)
	acc.deny(1)
	acc.wait(time.Minute - time.Microsecond)
	acc.used(1)
	acc.wait(time.Microsecond)
	acc.used(0)
}

// counterEdges: of 10 in the window before, floor(10·left/W) count.
func counterEdges(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.SlidingCounter, 10, time.Minute))
	acc.admit(10)
	acc.wait(time.Minute - time.Microsecond)
	acc.deny(1)
	acc.wait(time.Microsecond)
	acc.used(10)
	acc.wait(time.Microsecond)
	acc.used(9)
	acc.wait(6*time.Second - time.Microsecond)
	acc.used(9)
	acc.wait(time.Microsecond)
	acc.used(8)
	acc.admit(2)
	acc.deny(1)
	acc.wait(54*time.Second - time.Microsecond)
	acc.used(2)
	acc.wait(time.Minute - time.Microsecond)
	acc.used(0)
}

func emptyWindows(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.SlidingCounter, 10, time.Minute))
	acc.admit(10)
	acc.wait(2*time.Minute - time.Microsecond)
	acc.used(0)
	acc.wait(time.Microsecond)
	acc.admit(10)
	acc.wait(2 * time.Minute)
	acc.admit(10)
	acc.wait(time.Hour)
	acc.admit(10)
}
