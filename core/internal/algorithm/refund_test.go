package algorithm

import (
	"testing"
	"time"
)

// What a refund gives back: at an instant, of a charge that was made at midnight
// for four units of ten a minute, six of them having been used before it.
func TestRefunds(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  Kind
		at    time.Duration
		units int64
		used  int64 // after it
	}{
		{"at once", KindTokenBucket, 0, 4, 6},
		{"at once", KindGCRA, 0, 4, 6},
		{"at once", KindFixedWindow, 0, 4, 6},
		{"at once", KindSlidingCounter, 0, 4, 6},
		{"at once", KindLeakyBucket, 0, 4, 6},
		{"a part", KindTokenBucket, 0, 1, 9},
		{"a part", KindGCRA, 0, 1, 9},
		{"a part", KindFixedWindow, 0, 1, 9},
		{"a part", KindSlidingCounter, 0, 1, 9},
		{"a part", KindLeakyBucket, 0, 1, 9},
		{"nothing", KindTokenBucket, 0, 0, 10},
		{"nothing", KindLeakyBucket, 0, 0, 10},
		{"whatever has drained since", KindTokenBucket, 30 * second, 4, 1},
		{"whatever has drained since", KindGCRA, 30 * second, 4, 1},
		{"no more than there is", KindTokenBucket, 48 * second, 4, 0},
		{"no more than there is", KindGCRA, 48 * second, 4, 0},
		{"nothing that is full", KindTokenBucket, time.Hour, 4, 0},
		{"to its window", KindFixedWindow, 60*second - micro, 4, 6},
		{"not to the next", KindFixedWindow, 60 * second, 4, 0},
		{"to the last window's count", KindSlidingCounter, 90 * second, 4, 3}, // of six, half
		{"not to the one after", KindSlidingCounter, 120 * second, 4, 0},
	} {
		a := Ask{Now: midnight, Quota: 10, Window: 60_000_000, Capacity: 10, Cost: 6}
		var out Answer
		s := Take(c.kind, State{}, &a, &out)
		a.Cost = 4
		s = Take(c.kind, s, &a, &out)
		a.Now, a.Cost = midnight+c.at.Microseconds(), c.units
		next, changed, _ := Refund(c.kind, s, &a, midnight, out.End)
		if !changed && next != s {
			t.Errorf("%s, kind %d: unchanged, and %+v became %+v", c.name, c.kind, s, next)
		}
		if got := Used(c.kind, next, &a); got != c.used {
			t.Errorf("%s, kind %d: %d used, want %d", c.name, c.kind, got, c.used)
		}
	}
}

// A queue gives a slot back while nobody waits behind it, and a second slot after
// the first.
func TestRefundOfAQueue(t *testing.T) {
	a := Ask{Now: midnight, Quota: 1, Window: 1_000_000, Capacity: 10, Cost: 1}
	var s State
	var ends []int64
	for range 3 {
		var out Answer
		s = Take(KindLeakyBucket, s, &a, &out)
		ends = append(ends, out.End)
	}
	if _, changed, _ := Refund(KindLeakyBucket, s, &a, midnight, ends[1]); changed {
		t.Error("the slot of one who has another behind him is given back")
	}
	s, changed, end := Refund(KindLeakyBucket, s, &a, midnight, ends[2])
	if !changed || end != ends[1] {
		t.Errorf("the last one's: %v, the end is %d, want %d", changed, end, ends[1])
	}
	if s, changed, end = Refund(KindLeakyBucket, s, &a, midnight, end); !changed || end != ends[0] || Used(KindLeakyBucket, s, &a) != 1 {
		t.Errorf("then the one before: %v, the end is %d, want %d", changed, end, ends[0])
	}
}
