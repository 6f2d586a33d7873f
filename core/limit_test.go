package ratelimit_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// fields returns the fields that an error names, joined errors one by one.
func fields(t testing.TB, err error) []string {
	t.Helper()
	var all []string
	var walk func(error)
	walk = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				walk(e)
			}
			return
		}
		var c *ratelimit.ConfigError
		if !errors.As(err, &c) {
			t.Errorf("%v (%T) is no *ConfigError", err, err)
			return
		}
		if c.Reason == "" {
			t.Errorf("no reason is given for %s", c.Field)
		}
		all = append(all, c.Field)
	}
	if err != nil {
		walk(err)
	}
	return all
}

func TestLimitValidate(t *testing.T) {
	per := ratelimit.Per
	const (
		day    = 24 * time.Hour
		most   = ratelimit.MaxQuota
		tb, lb = ratelimit.TokenBucket, ratelimit.LeakyBucket
		gcra   = ratelimit.GCRA
		fw     = ratelimit.FixedWindow
		sl, sc = ratelimit.SlidingLog, ratelimit.SlidingCounter
	)
	for _, c := range []struct {
		limit ratelimit.Limit
		wrong []string
	}{
		// The corners that are right.
		{per(1, time.Millisecond), nil},
		{per(most, time.Millisecond), nil},
		{per(1, 366*day), nil},
		{per(most, 366*day).WithBurst(most), nil},
		{per(1, time.Second).WithBurst(1), nil},
		{per(1, time.Millisecond+time.Microsecond), nil},
		{per(most, 366*day).WithBurst(most).Using(lb), nil},
		{per(most, time.Millisecond).Using(fw), nil},
		{per(most, 366*day).Using(sl), nil}, // a store may refuse it
		{per(most, 366*day).Using(sc), nil},
		{per(1_000_000, time.Millisecond).Using(gcra), nil}, // one a nanosecond
		{per(most, 366*day).Using(gcra), nil},
		{per(1, 365*day).WithBurst(10).Using(gcra), nil}, // ten years

		// One field wrong.
		{per(0, time.Second), []string{"Quota"}},
		{per(-1, time.Second), []string{"Quota"}},
		{per(most+1, time.Second), []string{"Quota"}},
		{per(-1<<63, time.Second), []string{"Quota"}},
		{per(1, 0), []string{"Window"}},
		{per(1, -time.Second), []string{"Window"}},
		{per(1, time.Millisecond-1), []string{"Window"}},
		{per(1, time.Millisecond+1), []string{"Window"}},
		{per(1, 366*day+time.Microsecond), []string{"Window"}},
		{per(1, 1<<63-1), []string{"Window"}},
		{per(1, time.Second).WithBurst(-1), []string{"Burst"}},
		{per(1, time.Second).WithBurst(most + 1), []string{"Burst"}},
		{per(1, time.Second).WithBurst(2).Using(fw), []string{"Burst"}},
		{per(1, time.Second).WithBurst(2).Using(sl), []string{"Burst"}},
		{per(1, time.Second).WithBurst(2).Using(sc), []string{"Burst"}},
		{per(1, time.Second).Using(sc + 1), []string{"Algorithm"}},
		{per(1, time.Second).Using(255), []string{"Algorithm"}},
		{per(1_000_001, time.Millisecond).Using(gcra), []string{"Quota"}},
		{per(1, 365*day).WithBurst(11).Using(gcra), []string{"Burst"}},
		{per(1, 366*day).WithBurst(most).Using(gcra), []string{"Burst"}},

		// All are told together.
		{ratelimit.Limit{}, []string{"Quota", "Window"}},
		{ratelimit.Limit{Algorithm: 9, Quota: -1, Window: 1, Burst: -1}, []string{"Algorithm", "Quota", "Window", "Burst"}},
		{ratelimit.Limit{Algorithm: tb, Burst: -5}, []string{"Quota", "Window", "Burst"}},
	} {
		if got := fields(t, c.limit.Validate()); !slices.Equal(got, c.wrong) {
			t.Errorf("%+v: wrong are %q, want %q", c.limit, got, c.wrong)
		}
	}
}

// An error names the field and says what would be right.
func TestConfigErrorText(t *testing.T) {
	err := ratelimit.PerMinute(0).Validate()
	var wrong *ratelimit.ConfigError
	if !errors.As(err, &wrong) {
		t.Fatalf("%T is no *ConfigError", err)
	}
	if got, want := wrong.Error(), "ratelimit: Quota must be 1 to 2147483648, is 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimitConstructors(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		got, want ratelimit.Limit
		capacity  int64
	}{
		{ratelimit.Per(3, 5*time.Minute), ratelimit.Limit{Quota: 3, Window: 5 * time.Minute}, 3},
		{ratelimit.PerSecond(3), ratelimit.Limit{Quota: 3, Window: time.Second}, 3},
		{ratelimit.PerMinute(3), ratelimit.Limit{Quota: 3, Window: time.Minute}, 3},
		{ratelimit.PerHour(3), ratelimit.Limit{Quota: 3, Window: time.Hour}, 3},
		{ratelimit.PerDay(3), ratelimit.Limit{Quota: 3, Window: day}, 3},
		{ratelimit.PerDay(3).WithBurst(9), ratelimit.Limit{Quota: 3, Window: day, Burst: 9}, 9},
		{ratelimit.PerDay(3).WithBurst(9).WithBurst(0), ratelimit.Limit{Quota: 3, Window: day}, 3},
		{
			ratelimit.PerDay(3).WithBurst(1).Using(ratelimit.GCRA),
			ratelimit.Limit{Algorithm: ratelimit.GCRA, Quota: 3, Window: day, Burst: 1},
			1,
		},
		{
			ratelimit.PerDay(3).WithBurst(9).Using(ratelimit.FixedWindow), // invalid, and harmless
			ratelimit.Limit{Algorithm: ratelimit.FixedWindow, Quota: 3, Window: day, Burst: 9}, 3,
		},
	} {
		if c.got != c.want || c.got.Capacity() != c.capacity {
			t.Errorf("%+v of capacity %d, want %+v of %d", c.got, c.got.Capacity(), c.want, c.capacity)
		}
	}
}
