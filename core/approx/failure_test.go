package approx_test

import (
	"errors"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// What the shared store refuses by itself is not tried for ever.
func TestExchangeRefused(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		ann.take("k", 1)
		way.down = ratelimit.ErrMisuse
		if err := ann.Flush(ann.Context()); !errors.Is(err, ratelimit.ErrMisuse) {
			t.Errorf("want the refusal, got %v", err)
		}
		way.down = nil
		ann.flush()
		ann.shared(way, "k", 0)
	})
}

// While the shared store is down decisions go on, and nothing is lost.
func TestExchangeFails(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(_ *limittest.Clock, way *link, ann, bob *instance) {
				down := errors.New("down")
				way.down = down
				ann.take("k", 4)
				bob.take("k", 7)
				for range 3 {
					if err := ann.Flush(ann.Context()); !errors.Is(err, down) {
						t.Errorf("want the store's error, got %v", err)
					}
				}
				ann.take("k", 2)
				if r := ann.take("k", 5); r.Allowed {
					t.Error("5 more of 10 where 6 are in use: want a denial")
				}
				if s := ann.Stats(); s.Exchanges != 3 || s.Failures != 3 || s.Tracked != 1 {
					t.Errorf("want 3 exchanges, all failed, and a key tracked, got %+v", s)
				}
				way.down = nil
				ann.flush()
				bob.flush()
				ann.shared(way, "k", 13)
				bob.used("k", 13)
			})
		})
	}
}

// A charge whose reply was lost is sent again: too much rather than too little.
func TestExchangeLosesAReply(t *testing.T) {
	pair(t, ratelimit.PerMinute(100), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		receipt := ann.take("k", 10).Receipt
		way.lost = errors.New("lost")
		if err := ann.Flush(ann.Context()); !errors.Is(err, way.lost) {
			t.Errorf("want the store's error, got %v", err)
		}
		way.lost = nil
		ann.flush()
		ann.shared(way, "k", 20)
		ann.used("k", 20)

		// A refund is not.
		ann.adjust(ratelimit.Refund, "k", 4, receipt)
		way.onReceive = func() { // of the look before the refund
			way.onReceive, way.lost = nil, errors.New("lost")
		}
		if err := ann.Flush(ann.Context()); err == nil {
			t.Error("want the store's error, got none")
		}
		way.lost = nil
		ann.flush()
		ann.shared(way, "k", 16)
		ann.used("k", 16)
	})
}

// What waited for longer than its window, while the shared store was down, is sent as
// far as it still counts here.
func TestExchangeAfterALongOutage(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(clock *limittest.Clock, way *link, ann, _ *instance) {
				way.down = errors.New("down")
				for range 5 {
					ann.take("k", 10)
					_ = ann.Flush(ann.Context())
					clock.Advance(2 * time.Minute)
				}
				ann.take("k", 10)
				way.down = nil
				ann.flush()
				ann.shared(way, "k", 10)
				ann.used("k", 10)
			})
		})
	}
}
