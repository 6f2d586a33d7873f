package limittest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

func TestClock(t *testing.T) {
	var clock limittest.Clock
	begin := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	if got := clock.Now(); !got.Equal(begin) {
		t.Errorf("the zero clock shows %v, want %v", got, begin)
	}
	clock.Advance(90 * time.Second)
	clock.Advance(-time.Minute)
	if got := clock.Now(); !got.Equal(begin.Add(30 * time.Second)) {
		t.Errorf("after 90s forth and 60s back it shows %v", got)
	}
	clock.Set(time.Time{})
	if got := clock.Now(); !got.IsZero() {
		t.Errorf("set to the zero time it shows %v", got)
	}

	var fresh limittest.Clock
	fresh.Advance(time.Hour)
	if got := fresh.Now(); !got.Equal(begin.Add(time.Hour)) {
		t.Errorf("advanced before it was read it shows %v", got)
	}
}

func TestClockIsSafeForConcurrentUse(t *testing.T) {
	var clock limittest.Clock
	begin := clock.Now()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				clock.Advance(time.Millisecond)
				clock.Now()
			}
		})
	}
	wg.Wait()
	if got := clock.Now().Sub(begin); got != 800*time.Millisecond {
		t.Errorf("advanced by %v, want 800ms", got)
	}
}

func ExampleClock() {
	var clock limittest.Clock
	limits := ratelimit.Must(ratelimit.Config{
		Store: ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}),
		Policies: []ratelimit.Policy{{Name: "mail", Limit: ratelimit.PerHour(1), Key: func(dst []byte, _ ratelimit.Request) ([]byte, error) {
			return append(dst, "everyone"...), nil
		}}},
	})
	for range 2 {
		for range 2 {
			d, _ := limits.Allow(context.Background(), "ann", 1)
			fmt.Println(clock.Now().Format(time.TimeOnly), d.Allowed())
		}
		clock.Advance(time.Hour)
	}
	clock.Set(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC))
	fmt.Println(clock.Now().Format(time.DateTime))
	// Output:
	// 00:00:00 true
	// 00:00:00 false
	// 01:00:00 true
	// 01:00:00 false
	// 2026-03-01 12:00:00
}
