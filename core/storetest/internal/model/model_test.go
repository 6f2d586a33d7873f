package model

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// TestWaits compares every wait with what it stands for: the least number of
// microseconds after which no more than the target is in use.
func TestWaits(t *testing.T) {
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		t.Run(a.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(a)))
			for range 20 {
				waits(t, a, rng)
			}
		})
	}
}

func waits(t *testing.T, a ratelimit.Algorithm, rng *rand.Rand) {
	t.Helper()
	at := int64(1_000_000)
	s := New(func() time.Time { return time.UnixMicro(at) }, 100)
	limit := func(window time.Duration) ratelimit.Limit {
		return ratelimit.Limit{Algorithm: a, Quota: 1 + rng.Int64N(20), Window: window}
	}
	l := limit(ratelimit.MinWindow + time.Duration(rng.Int64N(500))*time.Microsecond)
	space := ratelimit.NewSpace("policy", l)
	if err := s.Open(space); err != nil {
		t.Fatal(err)
	}
	for range 1 + rng.IntN(4) {
		c := []ratelimit.Charge{{Space: space, Limit: l, Cost: 1 + rng.Int64N(12), Mode: ratelimit.Force}}
		if err := s.Take(context.Background(), c, make([]ratelimit.Result, 1)); err != nil {
			t.Fatal(err)
		}
		at += rng.Int64N(800)
	}
	tally := s.stored(nameOf(space, nil), l, at)
	if rng.IntN(2) == 0 {
		l = limit(l.Window)
	}
	for target := range int64(8) {
		var want int64
		for tally.used(l, at+want) > target {
			want++
		}
		if got := tally.wait(l, at, target, 0); got != want {
			t.Fatalf("%+v: wait until %d are used: want %d, got %d", l, target, want, got)
		}
	}
	if got := tally.wait(l, at, -1, 0); got != never {
		t.Fatalf("%+v: wait until less than nothing is used: want never, got %d", l, got)
	}
}

// TestSlack holds that a reservation's wait is the plain one less what it may wait.
func TestSlack(t *testing.T) {
	for _, a := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.GCRA} {
		l := ratelimit.Per(10, time.Second).Using(a)
		tally := New(nil, 1).fresh(l)
		tally.put(l, 0, 17)
		for slack := range int64(20) {
			slack *= 55_555
			want := max(0, tally.wait(l, 0, 8, 0)-slack)
			if got := tally.wait(l, 0, 8, slack); got != want {
				t.Errorf("%v, slack %d: want %d, got %d", a, slack, want, got)
			}
		}
		if got := tally.wait(l, 0, -3, 299_999); got != never {
			t.Errorf("%v: 3 beyond the capacity within less than 3 intervals: want never, got %d", a, got)
		}
		if got := tally.wait(l, 0, -3, 300_000); got != 1_700_000 {
			t.Errorf("%v: 3 beyond the capacity within 3 intervals: want 1700000, got %d", a, got)
		}
	}
}
