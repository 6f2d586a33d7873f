package approx_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A refund comes out of what was not sent yet, the rest out of the shared store.
func TestRefund(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(100).Using(a), func(_ *limittest.Clock, way *link, ann, bob *instance) {
				bob.take("k", 20)
				bob.flush()
				ann.take("k", 10)
				ann.flush()
				receipt := ann.take("k", 8).Receipt
				if left := ann.adjust(ratelimit.Refund, "k", 6, receipt).Units; left != 2 {
					t.Errorf("a refund of 6 of 8: want 2 left in the receipt, got %d", left)
				}
				ann.used("k", 26+6)
				ann.flush()
				ann.shared(way, "k", 32)

				receipt = ann.take("k", 8).Receipt
				ann.flush()
				ann.shared(way, "k", 40)
				ann.adjust(ratelimit.Refund, "k", 8, receipt)
				ann.used("k", 32)
				way.down = errors.New("down")
				if err := ann.Flush(ann.Context()); !errors.Is(err, way.down) {
					t.Errorf("want the store's error, got %v", err)
				}
				way.down = nil
				ann.shared(way, "k", 40)
				ann.flush()
				ann.shared(way, "k", 32)
				ann.used("k", 32)
			})
		})
	}
}

// A refund that gives back nothing takes nothing from what is pending.
func TestRefundTooLate(t *testing.T) {
	pair(t, ratelimit.PerMinute(10).Using(ratelimit.FixedWindow), func(clock *limittest.Clock, way *link, ann, _ *instance) {
		receipt := ann.take("k", 4).Receipt
		clock.Advance(time.Minute)
		ann.take("k", 3)
		ann.adjust(ratelimit.Refund, "k", 4, receipt)
		ann.flush()
		ann.shared(way, "k", 3)

		// Nor does one of a window that ends before the exchange touch the next.
		receipt = ann.take("k", 3).Receipt
		ann.flush()
		ann.adjust(ratelimit.Refund, "k", 3, receipt)
		clock.Advance(time.Minute)
		ann.take("k", 5)
		ann.flush()
		ann.shared(way, "k", 5)
	})
}

func TestExtra(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(_ *limittest.Clock, way *link, ann, _ *instance) {
				ann.take("k", 4)
				if units := ann.adjust(ratelimit.Extra, "k", 11, ratelimit.Receipt{}).Units; units != 11 {
					t.Errorf("want 11 charged, got %d", units)
				}
				ann.flush()
				ann.shared(way, "k", 15)
				ann.used("k", 15)
			})
		})
	}
}

func TestAdjustRefuses(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, _ *link, ann, _ *instance) {
		stranger := ratelimit.NewSpace("stranger", ann.limit)
		for what, a := range map[string]ratelimit.Adjustment{
			"Renew":                    {Op: ratelimit.Renew, Space: ann.space, Limit: ann.limit, Units: 1},
			"an unknown operation":     {Op: ratelimit.Reset + 1, Space: ann.space, Limit: ann.limit},
			"a negative Refund":        {Op: ratelimit.Refund, Space: ann.space, Limit: ann.limit, Units: -1},
			"a negative Extra":         {Op: ratelimit.Extra, Space: ann.space, Limit: ann.limit, Units: -1},
			"a space not opened":       {Op: ratelimit.Refund, Space: stranger, Limit: ann.limit, Units: 1},
			"Reset where nothing is":   {Op: ratelimit.Reset, Space: stranger},
			"Extra in another's space": {Op: ratelimit.Extra, Space: stranger, Limit: ann.limit, Units: 1},
		} {
			if err := ann.Adjust(ann.Context(), []ratelimit.Adjustment{a}); !errors.Is(err, ratelimit.ErrMisuse) {
				t.Errorf("%s: want an error that wraps ErrMisuse, got %v", what, err)
			}
		}
	})
}

// TestAlone holds that the copy of a single instance, exchanged after each step, is
// the shared store, over random traces on one clock.
func TestAlone(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			for seed := range uint64(50) {
				alone(t, ratelimit.PerMinute(60).Using(a), seed)
			}
		})
	}
}

func alone(t *testing.T, limit ratelimit.Limit, seed uint64) {
	pair(t, limit, func(clock *limittest.Clock, _ *link, ann, _ *instance) {
		exact := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
		space := ratelimit.NewSpace("api", limit)
		if err := exact.Open(space); err != nil {
			t.Fatal(err)
		}
		same := &instance{TB: ann, space: space, limit: limit}
		random := rand.New(rand.NewPCG(seed, 0))
		for step := range 100 {
			clock.Advance(time.Duration(random.IntN(5)) * time.Second)
			cost := random.Int64N(20)
			var want [1]ratelimit.Result
			if err := exact.Take(ann.Context(), []ratelimit.Charge{same.charge("k", cost)}, want[:]); err != nil {
				t.Fatal(err)
			}
			got := ann.take("k", cost)
			if got != want[0] {
				t.Fatalf("seed %d, step %d, a cost of %d:\nwant %+v\ngot  %+v", seed, step, cost, want[0], got)
			}
			if random.IntN(2) == 0 {
				ann.flush()
			}
			if random.IntN(3) > 0 || got.Receipt.Units == 0 {
				ann.flush()
				continue
			}
			refund := []ratelimit.Adjustment{{
				Op: ratelimit.Refund, Space: space, Key: []byte("k"), Limit: limit,
				Units: 1 + random.Int64N(got.Receipt.Units), Receipt: got.Receipt,
			}}
			ann.adjust(ratelimit.Refund, "k", refund[0].Units, got.Receipt)
			if err := exact.Adjust(ann.Context(), refund); err != nil {
				t.Fatal(err)
			}
			ann.flush()
		}
	})
}
