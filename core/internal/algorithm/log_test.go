package algorithm

import (
	"testing"
	"time"
)

// keep drops what is gone of a log and adds an entry, as a store does.
func (l *Log) keep(gone int, at, units int64) {
	l.Base, l.Head, l.Len = l.Total(gone), l.Head+gone, l.Len-gone
	if units > 0 {
		i := l.Index(l.Len)
		l.Ring[i], l.Ring[i+1] = uint64(at), AddTotal(l.Total(l.Len), units)
		l.Len++
	}
}

// Three a minute: a charge counts for a minute, to the microsecond.
func TestSlidingLogTrace(t *testing.T) {
	l := Log{Ring: make([]uint64, 16), Base: totalMask - 1} // totals run over in between
	for i, want := range []step{
		// at, cost; allowed, left; retry, next, reset, wait
		{0, 2, true, 1, 0, 60 * second, 60 * second, 0},
		{20 * second, 1, true, 0, 0, 40 * second, 60 * second, 0},
		{30 * second, 1, false, 0, 30 * second, 30 * second, 50 * second, 0},
		{30 * second, 3, false, 0, 50 * second, 30 * second, 50 * second, 0},
		{30 * second, 4, false, 0, never, 30 * second, 50 * second, 0},
		{60*second - micro, 1, false, 0, micro, micro, 20*second + micro, 0},
		{60 * second, 2, true, 0, 0, 20 * second, 60 * second, 0},
		{55 * second, 1, false, 0, 25 * second, 25 * second, 65 * second, 0}, // five seconds back
		{80 * second, 1, true, 0, 0, 40 * second, 60 * second, 0},
		{140 * second, 3, true, 0, 0, 60 * second, 60 * second, 0},
		{time.Hour, 0, true, 3, 0, 0, 0, 0},
	} {
		a := Ask{Now: midnight + want.at.Microseconds(), Quota: 3, Window: 60_000_000, Cost: want.cost}
		var out Answer
		gone := SlidingLog(&l, &a, &out)
		us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
		got := step{want.at, want.cost, out.Allowed, out.Remaining, us(out.Retry), us(out.Next), us(out.Reset), us(out.Delay)}
		if got != want {
			t.Errorf("step %d\n got %+v\nwant %+v", i, got, want)
		}
		if out.Units > 0 {
			l.keep(gone, out.At, out.Units)
		}
	}
}

// Two denials within a minute ban for ten seconds, then twice as long, at most for
// thirty. A ban ends under traffic, and is forgotten a minute after its end.
func TestStrikeTrace(t *testing.T) {
	p := Penalty{Denials: 2, Within: 60_000_000, Ban: 10_000_000, Max: 30_000_000, Factor: 2}
	l := Log{Ring: make([]uint64, 16)}
	var ban Ban
	var last int64
	for i, want := range []struct {
		at      time.Duration
		denial  bool
		allowed bool
		used    int64
		retry   time.Duration
	}{
		{0, false, true, 0, 0},
		{0, true, true, 1, 0},
		{60 * second, true, true, 1, 0}, // the first one is a minute old
		{61 * second, true, false, 0, 10 * second},
		{65 * second, true, false, 0, 6 * second}, // not counted, or no ban would end
		{71*second - micro, true, false, 0, micro},
		{71 * second, false, true, 0, 0},
		{72 * second, true, true, 1, 0},
		{73 * second, true, false, 0, 20 * second},
		{93 * second, true, true, 1, 0},
		{94 * second, true, false, 0, 30 * second}, // forty, but for Max
		{124 * second, true, true, 1, 0},
		{184*second - micro, true, false, 0, 30 * second}, // remembered until now
		{300 * second, true, true, 1, 0},
		{301 * second, true, false, 0, 10 * second}, // forgotten
	} {
		now := midnight + want.at.Microseconds()
		var out Answer
		gone, after, counted := Strike(&l, ban, last, &p, now, want.denial, &out)
		if retry := time.Duration(out.Retry) * micro; out.Allowed != want.allowed || out.Used != want.used || retry != want.retry {
			t.Errorf("step %d: %v, %d used, retry %v; want %+v", i, out.Allowed, out.Used, retry, want)
		}
		if counted {
			var units int64
			if out.Allowed {
				units = 1
			}
			l.keep(gone, out.At, units)
			ban, last = after, out.At
		}
	}
}

// The n-th ban in a row, and no overflow however many.
func TestPenaltyLength(t *testing.T) {
	growing := Penalty{Ban: 10, Max: 1 << 44, Factor: 10}
	for n, want := range []int64{10, 100, 1000, 10_000} {
		if got := growing.Length(int64(n)); got != want {
			t.Errorf("after %d: %d, want %d", n, got, want)
		}
	}
	for _, p := range []Penalty{growing, {Ban: 1 << 44, Max: 1 << 44, Factor: 1e9}} {
		if got := p.Length(MaxBans); got != 1<<44 {
			t.Errorf("%+v: %d at last, want the longest", p, got)
		}
	}
	same := Penalty{Ban: 10, Max: 10, Factor: 1}
	if got := same.Length(MaxBans); got != 10 {
		t.Errorf("%d, want the same always", got)
	}
}
