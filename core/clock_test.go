package ratelimit

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestClockReadsTheWallAgain: where the wall was set since it was read, the clock
// follows a second after that, and not before.
func TestClockReadsTheWallAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock{base: time.Now()}
		behind := func() time.Duration { return time.Duration(time.Now().UnixMicro()-c.micros()) * time.Microsecond }
		for _, wait := range []time.Duration{0, time.Microsecond, 250 * time.Millisecond, time.Hour} {
			time.Sleep(wait)
			if got := behind(); got != 0 {
				t.Fatalf("%v behind the wall after %v", got, wait)
			}
		}
		c.offset.Add(-int64(time.Minute)) // as if the wall had been put forward since it was read
		for _, step := range []struct{ wait, behind time.Duration }{
			{0, time.Minute},
			{999 * time.Millisecond, time.Minute},
			{time.Millisecond, 0},
			{time.Minute, 0},
		} {
			time.Sleep(step.wait)
			if got := behind(); got != step.behind {
				t.Errorf("%v later: %v behind the wall, want %v", step.wait, got, step.behind)
			}
		}
	})
}

// TestClockStaysInRange: a clock that tells nonsense is brought into the years that
// the arithmetic is exact for.
func TestClockStaysInRange(t *testing.T) {
	for now, want := range map[time.Time]int64{
		{}:                         0,
		time.UnixMicro(-1):         0,
		time.UnixMicro(7):          7,
		time.UnixMicro(maxInstant): maxInstant,
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC): maxInstant,
	} {
		c := clock{now: func() time.Time { return now }}
		if got := c.micros(); got != want {
			t.Errorf("%v: %d, want %d", now, got, want)
		}
	}
}
