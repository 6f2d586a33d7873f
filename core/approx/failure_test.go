package approx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
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

// A charge whose reply was lost is not made again.
func TestExchangeLosesAReply(t *testing.T) {
	pair(t, ratelimit.PerMinute(100), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		receipt := ann.take("k", 10).Receipt
		way.lost = errors.New("lost")
		if err := ann.Flush(ann.Context()); !errors.Is(err, way.lost) {
			t.Errorf("want the store's error, got %v", err)
		}
		way.lost = nil
		ann.flush()
		ann.shared(way, "k", 10)
		ann.used("k", 10)

		// Nor is a refund.
		ann.adjust(ratelimit.Refund, "k", 4, receipt)
		way.onReceive = func() { // of the look before the refund
			way.onReceive, way.lost = nil, errors.New("lost")
		}
		if err := ann.Flush(ann.Context()); err == nil {
			t.Error("want the store's error, got none")
		}
		way.lost = nil
		ann.flush()
		ann.shared(way, "k", 6)
		ann.used("k", 6)
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

// panicking is a store that panics, as often as it is told to.
type panicking struct {
	ratelimit.Store
	times  int
	before bool // it panics before it charges
	value  any
}

func (p *panicking) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if p.times--; p.times < 0 {
		return p.Store.Take(ctx, charges, results)
	}
	if !p.before {
		_ = p.Store.Take(ctx, charges, results)
	}
	panic(p.value)
}

func (p *panicking) Adjust(context.Context, []ratelimit.Adjustment) error { panic(p.value) }

// A shared store that panics ends no process: its panic is a failure, of which it is not
// known whether it charged.
func TestExchangePanics(t *testing.T) {
	bug := errors.New("a bug")
	for _, a := range algorithms {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprint(a, before), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					shared := &panicking{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), times: 3, before: before, value: bug}
					o := &observer{ask: func() {}}
					ann := newInstance(t, shared, ratelimit.PerDay(1000).Using(a), approx.Config{Observer: o})
					receipt := ann.take("k", 20).Receipt
					time.Sleep(time.Second)
					if got := look(t, shared.Store, ann.space, "k"); got != 20 {
						t.Errorf("want 20 charged after three panics, got %d", got)
					}

					ann.adjust(ratelimit.Refund, "k", 5, receipt)
					time.Sleep(time.Second)
					o.mu.Lock()
					defer o.mu.Unlock()
					var kinds []ratelimit.ReportKind
					for _, r := range o.reports {
						kinds = append(kinds, r.Kind)
						if !errors.Is(r.Err, bug) || !strings.Contains(r.Err.Error(), "failure_test.go") {
							t.Errorf("want the panic and its stack, got %v", r.Err)
						}
					}
					store, adjust := ratelimit.ReportStoreError, ratelimit.ReportAdjustError
					if want := []ratelimit.ReportKind{store, store, store, adjust}; !slices.Equal(kinds, want) {
						t.Errorf("want reports of the kinds %v, got %v", want, kinds)
					}
					ann.Close()
				})
			})
		}
	}
}
