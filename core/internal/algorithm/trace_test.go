package algorithm

import (
	"testing"
	"time"
)

// A step of a trace: at an instant, a cost, and what is to become of it. Instants
// count from midnight, where windows begin.
type step struct {
	at                       time.Duration
	cost                     int64
	allowed                  bool
	left                     int64
	retry, next, reset, wait time.Duration
}

const (
	second = time.Second
	never  = NeverFits * time.Microsecond
	micro  = time.Microsecond
)

// midnight is an instant at which all windows of a whole part of a day begin.
const midnight = 20_454 * 86_400_000_000

// play runs a trace of one key.
func play(t *testing.T, k Kind, limit Ask, steps []step) {
	t.Helper()
	var s State
	for i, want := range steps {
		a := limit
		a.Now, a.Cost = midnight+want.at.Microseconds(), want.cost
		if a.Capacity == 0 {
			a.Capacity = a.Quota
		}
		var out Answer
		next := Take(k, s, &a, &out)
		us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
		got := step{want.at, want.cost, out.Allowed, out.Remaining, us(out.Retry), us(out.Next), us(out.Reset), us(out.Delay)}
		if got != want {
			t.Errorf("step %d\n got %+v\nwant %+v", i, got, want)
		}
		if (out.Units == 0) != (next == s) || out.Units != 0 && out.Units != want.cost {
			t.Errorf("step %d: %d units, from %+v to %+v", i, out.Units, s, next)
		}
		s = next
	}
}

// tenAMinute is a limit with room for four at once where it is a bucket: a unit
// every six seconds.
var tenAMinute = Ask{Quota: 10, Window: 60_000_000, Capacity: 4}

func TestBucketTraces(t *testing.T) {
	for _, k := range []Kind{KindTokenBucket, KindGCRA} {
		play(t, k, tenAMinute, []step{
			// at, cost; allowed, left; retry, next, reset, wait
			{0, 0, true, 4, 0, 0, 0, 0},
			{0, 3, true, 1, 0, 6 * second, 18 * second, 0},
			{0, 2, false, 1, 6 * second, 6 * second, 18 * second, 0},
			{0, 1, true, 0, 0, 6 * second, 24 * second, 0},
			{6*second - micro, 1, false, 0, micro, micro, 18*second + micro, 0},
			{6 * second, 1, true, 0, 0, 6 * second, 24 * second, 0},
			{9 * second, 4, false, 0, 21 * second, 3 * second, 21 * second, 0},
			{9 * second, 5, false, 0, never, 3 * second, 21 * second, 0},
			{30 * second, 4, true, 0, 0, 6 * second, 24 * second, 0}, // full after exactly that wait
			{200 * 365 * 24 * time.Hour, 0, true, 4, 0, 0, 0, 0},     // idle for 200 years
		})

		// A reservation of up to ten seconds: one unit waits six, and a second would wait twelve.
		reserving := tenAMinute
		reserving.MaxDelay = 10_000_000
		play(t, k, reserving, []step{
			{0, 4, true, 0, 0, 6 * second, 24 * second, 0},
			{0, 1, true, 0, 0, 12 * second, 30 * second, 6 * second},
			{0, 1, false, 0, 2 * second, 12 * second, 30 * second, 0},
			{2 * second, 1, true, 0, 0, 16 * second, 34 * second, 10 * second},
			{2 * second, 0, true, 0, 0, 16 * second, 34 * second, 0}, // a look waits for nothing
			{2 * second, 5, false, 0, never, 16 * second, 34 * second, 0},
		})
	}
}

// Seven a second does not divide: the token bucket is exact, GCRA is a nanosecond a
// unit slower, and never more generous.
func TestBucketsThatDoNotDivide(t *testing.T) {
	sevenASecond := Ask{Quota: 7, Window: 1_000_000, Capacity: 7}
	play(t, KindTokenBucket, sevenASecond, []step{
		{0, 7, true, 0, 0, 142_858 * micro, second, 0},
		{142_857 * micro, 1, false, 0, micro, micro, 857_143 * micro, 0},
	})
	play(t, KindGCRA, sevenASecond, []step{
		{0, 7, true, 0, 0, 142_858 * micro, second + micro, 0}, // 7 · 142,857,143 ns
		{142_857 * micro, 1, false, 0, micro, micro, 857_144 * micro, 0},
	})
}

// A queue of three, one a second: what is admitted departs a second apart.
func TestLeakyBucketTrace(t *testing.T) {
	play(t, KindLeakyBucket, Ask{Quota: 1, Window: 1_000_000, Capacity: 3}, []step{
		{0, 1, true, 2, 0, second, second, 0},
		{0, 1, true, 1, 0, second, 2 * second, second},
		{500 * time.Millisecond, 1, true, 0, 0, 500 * time.Millisecond, 2500 * time.Millisecond, 1500 * time.Millisecond},
		{500 * time.Millisecond, 1, false, 0, 500 * time.Millisecond, 500 * time.Millisecond, 2500 * time.Millisecond, 0},
		{second, 1, true, 0, 0, second, 3 * second, 2 * second},
		{10 * second, 3, true, 0, 0, second, 3 * second, 0},
	})
}

// Three an hour: the count is of the hour on the clock.
func TestFixedWindowTrace(t *testing.T) {
	const hour = time.Hour
	play(t, KindFixedWindow, Ask{Quota: 3, Window: hour.Microseconds()}, []step{
		{0, 2, true, 1, 0, hour, hour, 0},
		{hour - micro, 1, true, 0, 0, micro, micro, 0},
		{hour - micro, 1, false, 0, micro, micro, micro, 0},
		{hour, 3, true, 0, 0, hour, hour, 0}, // six within a microsecond
		{hour + hour/2, 1, false, 0, hour / 2, hour / 2, hour / 2, 0},
		{hour + hour/2, 4, false, 0, never, hour / 2, hour / 2, 0},
		{5 * hour, 0, true, 3, 0, 0, 0, 0},
	})
}

// Ten a minute. A quarter into the next minute three quarters of this one's count
// still count: floor(8 · 45/60) = 6.
func TestSlidingCounterTrace(t *testing.T) {
	play(t, KindSlidingCounter, Ask{Quota: 10, Window: 60_000_000}, []step{
		{30 * second, 8, true, 2, 0, 30*second + micro, 82_500*time.Millisecond + micro, 0},
		{75 * second, 4, true, 0, 0, micro, 90*second + micro, 0},
		{75 * second, 1, false, 0, micro, micro, 90*second + micro, 0},
		{75 * second, 7, false, 0, 45*second + micro, micro, 90*second + micro, 0}, // not before the 4 are the last minute's
		{75 * second, 11, false, 0, never, micro, 90*second + micro, 0},
	})
	play(t, KindSlidingCounter, Ask{Quota: 1, Window: 60_000_000}, []step{
		{0, 1, true, 0, 0, 60*second + micro, 60*second + micro, 0},
		{60 * second, 1, false, 0, micro, micro, micro, 0}, // floor(1 · 60/60) = 1
		{60*second + micro, 1, true, 0, 0, 60 * second, 60 * second, 0},
		{180 * second, 0, true, 1, 0, 0, 0, 0}, // two empty windows later nothing is left
	})
}

// A clock that goes back by up to a minute, or a window if that is longer: the last
// write's instant counts, and waits are told from the caller's own. By more, the
// state is forgotten.
func TestTimeGoingBack(t *testing.T) {
	play(t, KindTokenBucket, tenAMinute, []step{
		{10 * second, 4, true, 0, 0, 6 * second, 24 * second, 0},
		{5 * second, 1, false, 0, 11 * second, 11 * second, 29 * second, 0},
		{-50 * second, 1, false, 0, 66 * second, 66 * second, 84 * second, 0},
		{-50*second - micro, 1, true, 3, 0, 6 * second, 6 * second, 0},
	})
	const hour = time.Hour
	play(t, KindFixedWindow, Ask{Quota: 1, Window: hour.Microseconds()}, []step{
		{0, 1, true, 0, 0, hour, hour, 0},
		{-second, 1, false, 0, hour + second, hour + second, hour + second, 0},
		{-hour, 1, false, 0, 2 * hour, 2 * hour, 2 * hour, 0},
		{-hour - micro, 1, true, 0, 0, micro, micro, 0},
	})
}

// A limit that changes after ten were used: half a minute later ten a minute has
// drained five of them. The bucket counts that whole time at the new rate; GCRA at
// the one that it was written at.
func TestChangedLimit(t *testing.T) {
	for _, c := range []struct {
		kind        Kind
		quota, left int64
	}{
		{KindTokenBucket, 10, 5},
		{KindGCRA, 10, 5},
		{KindTokenBucket, 20, 20},
		{KindGCRA, 20, 15},
		{KindTokenBucket, 6, 0},
		{KindGCRA, 6, 1},
		{KindLeakyBucket, 20, 20},
		{KindLeakyBucket, 6, 0},
		{KindFixedWindow, 20, 10},
		{KindFixedWindow, 6, 0},
		{KindSlidingCounter, 20, 10},
		{KindSlidingCounter, 6, 0},
	} {
		a := Ask{Now: midnight, Quota: 10, Window: 60_000_000, Capacity: 10, Cost: 10}
		var out Answer
		s := Take(c.kind, State{}, &a, &out)
		a.Now, a.Quota, a.Capacity, a.Cost = midnight+30_000_000, c.quota, c.quota, 0
		if Take(c.kind, s, &a, &out); out.Remaining != c.left {
			t.Errorf("kind %d, now %d a minute: %d left, want %d", c.kind, c.quota, out.Remaining, c.left)
		}
	}
}
