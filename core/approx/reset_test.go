package approx_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A Reset holds in both stores when it returns, and what was charged before it does
// not come back.
func TestReset(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(_ *limittest.Clock, way *link, ann, bob *instance) {
				bob.take("k", 2)
				ann.take("k", 4)
				ann.flush()
				ann.take("k", 3)
				ann.adjust(ratelimit.Reset, "k", 0, ratelimit.Receipt{})
				ann.shared(way, "k", 0)
				ann.used("k", 0)
				ann.flush()
				ann.shared(way, "k", 0)
				bob.flush() // what bob had not sent stays charged
				ann.flush()
				ann.used("k", 0)
				ann.flush()
				ann.used("k", 2)
			})
		})
	}
}

// A Reset that fails in the shared store holds here until the next exchange, and loses
// nothing that was charged.
func TestResetFails(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(_ *limittest.Clock, way *link, ann, _ *instance) {
				ann.take("k", 4)
				ann.flush()
				ann.take("k", 3) // is not sent yet
				way.down = errors.New("down")
				reset := []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: ann.space, Key: []byte("k"), Limit: ann.limit}}
				if err := ann.Adjust(ann.Context(), reset); !errors.Is(err, way.down) {
					t.Errorf("want the store's error, got %v", err)
				}
				ann.used("k", 0)
				way.down = nil
				ann.flush()
				ann.shared(way, "k", 7)
				ann.used("k", 7)
			})
		})
	}
}

// The adjustments of one call are made in order, though its Resets are all sent in one.
func TestResetsInOneCall(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(_ *limittest.Clock, way *link, ann, _ *instance) {
				one := func(op ratelimit.Op, key string, units int64) ratelimit.Adjustment {
					return ratelimit.Adjustment{Op: op, Space: ann.space, Key: []byte(key), Limit: ann.limit, Units: units}
				}
				ann.take("k", 4)
				ann.take("other", 4)
				ann.flush()
				ann.take("k", 1)
				if err := ann.Adjust(ann.Context(), []ratelimit.Adjustment{
					one(ratelimit.Extra, "k", 2), one(ratelimit.Reset, "k", 0), one(ratelimit.Extra, "k", 3), one(ratelimit.Reset, "other", 0),
				}); err != nil {
					t.Error(err)
				}
				if way.adjusts != 1 {
					t.Errorf("want one Adjust of the shared store, got %d", way.adjusts)
				}
				ann.used("k", 3)
				ann.shared(way, "k", 0)
				ann.flush()
				for key, want := range map[string]int64{"k": 3, "other": 0} {
					ann.used(key, want)
					ann.shared(way, key, want)
				}
			})
		})
	}
}

// In an outage a call waits for one Timeout, however many keys it resets, and even while
// an exchange is under way.
func TestResetsTimeOut(t *testing.T) {
	for _, busy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			stuck := errors.New("stuck")
			way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: time.Hour, down: stuck}}
			ann := newInstance(t, way, daily, approx.Config{Timeout: 2 * time.Second})
			var resets []ratelimit.Adjustment
			for _, key := range []string{"a", "b", "c"} {
				ann.take(key, 1)
				resets = append(resets, ratelimit.Adjustment{Op: ratelimit.Reset, Space: ann.space, Key: []byte(key)})
			}
			if busy {
				time.Sleep(101 * time.Millisecond) // the exchange began at 100 ms
			}
			start := time.Now()
			if err := ann.Adjust(t.Context(), resets); err == nil {
				t.Error("want an error, got none")
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("busy %v: want 2s at most, got %v", busy, took)
			}
			ann.used("a", 0)
			way.set(func(l *link) { l.oneWay, l.down = 0, nil })
			time.Sleep(3 * time.Second)
			for _, key := range []string{"a", "b", "c"} {
				ann.shared(way, key, 1)
			}
			ann.Close()
		})
	}
}

// A Reset waits for an exchange under way, so that what is sent is not charged after it.
func TestResetDuringAnExchange(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		way.oneWay = 10 * time.Millisecond
		ann.take("k", 4)
		done := make(chan error)
		go func() { done <- ann.Flush(ann.Context()) }()
		time.Sleep(time.Millisecond)
		way.set(func(l *link) { l.oneWay = 0 }) // the Reset would overtake it
		ann.adjust(ratelimit.Reset, "k", 0, ratelimit.Receipt{})
		if err := <-done; err != nil {
			t.Error(err)
		}
		ann.shared(way, "k", 0)
		ann.used("k", 0)
	})
}
