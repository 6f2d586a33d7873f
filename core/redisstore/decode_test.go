package redisstore

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
)

func minuteOf(n int64, mode ratelimit.Mode) ratelimit.Charge {
	return ratelimit.Charge{Limit: ratelimit.PerMinute(n), Mode: mode}
}

func reply(numbers ...float64) string { return string(appendNumbers(nil, numbers...)) }

func TestDecodeTake(t *testing.T) {
	charges := []ratelimit.Charge{minuteOf(10, ratelimit.Enforce), minuteOf(1, ratelimit.Force)}
	results := make([]ratelimit.Result, 2)
	text := reply(1000,
		1, 3, 7, 0, 18e6, 6e6, 2, 999, 3, 500,
		0, 4, 0, -1, 1<<53, 5, 0, 1000, 0, 0)
	if err := decodeTake(text, charges, results); err != nil {
		t.Fatal(err)
	}
	want := []ratelimit.Result{
		{
			Allowed: true, Used: 3, Remaining: 7, ResetAfter: 18 * time.Second, NextAfter: 6 * time.Second, Delay: 2 * time.Microsecond,
			Now: 1000, Receipt: ratelimit.Receipt{At: 999, Units: 3, End: 500},
		},
		{
			Used: 4, RetryAfter: ratelimit.Never, ResetAfter: 1 << 53 * time.Microsecond, NextAfter: 5 * time.Microsecond,
			Now: 1000, Receipt: ratelimit.Receipt{At: 1000},
		},
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeTakeRefuses(t *testing.T) {
	charges := []ratelimit.Charge{minuteOf(10, ratelimit.Enforce)}
	sound := []float64{1000, 1, 3, 7, 0, 18e6, 6e6, 0, 1000, 3, 0}
	if err := decodeTake(reply(sound...), charges, make([]ratelimit.Result, 1)); err != nil {
		t.Fatal(err)
	}
	for i := range sound {
		for _, x := range []float64{-2, 0.5, 1<<53 + 2, 1 << 60, math.NaN(), math.Inf(1), math.Inf(-1)} {
			bad := append([]float64(nil), sound...)
			bad[i] = x
			if err := decodeTake(reply(bad...), charges, make([]ratelimit.Result, 1)); err == nil {
				t.Errorf("number %d is %v: want an error, got none", i, x)
			}
		}
	}
	for _, text := range []string{"", "x", reply(sound[:10]...), reply(sound...) + "x", reply(append(sound, 0)...)} {
		if err := decodeTake(text, charges, make([]ratelimit.Result, 1)); err == nil {
			t.Errorf("%d bytes: want an error, got none", len(text))
		}
	}
	sound[3] = 11 // remains of 10
	if err := decodeTake(reply(sound...), charges, make([]ratelimit.Result, 1)); err == nil {
		t.Error("more remains than there is: want an error, got none")
	}
}

func TestDecodeAdjust(t *testing.T) {
	old := ratelimit.Receipt{At: math.MaxInt64, Units: 5, End: -3}
	a := []ratelimit.Adjustment{
		{Op: ratelimit.Refund, Units: 2, Receipt: old},
		{Op: ratelimit.Refund, Units: 9, Receipt: ratelimit.Receipt{At: 7, Units: 5, End: 90}},
		{Op: ratelimit.Extra, Units: 2, Receipt: old},
		{Op: ratelimit.Renew, Receipt: old},
		{Op: ratelimit.Reset, Receipt: old},
	}
	same := []float64{float64(old.At), float64(old.Units), float64(old.End)}
	text := reply(same...) + reply(7, 5, 80) + reply(100, 2, 30) + reply(200, 5, 0) + reply(same...)
	if err := decodeAdjust(text, a); err != nil {
		t.Fatal(err)
	}
	want := []ratelimit.Receipt{{At: math.MaxInt64, Units: 3, End: -3}, {At: 7, End: 80}, {At: 100, Units: 2, End: 30}, {At: 200, Units: 5}, old}
	for i := range a {
		if a[i].Receipt != want[i] {
			t.Errorf("adjustment %d: want %+v, got %+v", i, want[i], a[i].Receipt)
		}
	}
	for _, text := range []string{"", "x", text + "x", text[8:], reply(math.NaN(), 5, -3)} {
		if err := decodeAdjust(text, a[:1]); err == nil {
			t.Errorf("%d bytes: want an error, got none", len(text))
		}
	}
}

// What is decoded without an error can be shown, whatever the bytes were.
func FuzzDecodeTake(f *testing.F) {
	f.Add(reply(1000, 1, 3, 7, 0, 18e6, 6e6, 0, 1000, 3, 0), int64(10), uint8(0))
	f.Add(reply(1000, 0, 3, 7, -1, 1<<53, 6e6, 0, 1000, 3, 0), int64(10), uint8(4))
	f.Add("", int64(1), uint8(0))
	f.Fuzz(func(t *testing.T, text string, quota int64, mode uint8) {
		charges := []ratelimit.Charge{minuteOf(quota, ratelimit.Mode(mode))}
		results := make([]ratelimit.Result, 1)
		if decodeTake(text, charges, results) != nil {
			return
		}
		r := results[0]
		if r.Now < 1 || min(r.Used, r.Remaining, r.Receipt.At, r.Receipt.Units, r.Receipt.End) < 0 ||
			min(r.RetryAfter, r.ResetAfter, r.NextAfter, r.Delay) < 0 || ratelimit.Mode(mode) != ratelimit.Strike && r.Remaining > max(0, quota) {
			t.Fatalf("impossible: %+v", r)
		}
	})
}

func FuzzDecodeAdjust(f *testing.F) {
	f.Add(reply(1, 2, 3), uint8(1), int64(1), int64(2), int64(3), int64(4))
	f.Fuzz(func(t *testing.T, text string, op uint8, units, at, charged, end int64) {
		sent := ratelimit.Receipt{At: at, Units: charged, End: end}
		a := []ratelimit.Adjustment{{Op: ratelimit.Op(op), Units: units, Receipt: sent}}
		if decodeAdjust(text, a) != nil {
			return
		}
		r := a[0].Receipt
		if r.At < 0 && r.At != at || r.End < 0 && r.End != end || r.Units < 0 && r.Units != charged {
			t.Fatalf("impossible: %+v of %+v", r, sent)
		}
	})
}
