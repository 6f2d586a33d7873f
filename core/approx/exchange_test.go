package approx_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/limittest"
)

// pair is two instances over one shared store, on one clock, whose exchanges are made
// by Flush: the machine's time stands still meanwhile.
func pair(t *testing.T, limit ratelimit.Limit, test func(clock *limittest.Clock, way *link, ann, bob *instance)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var clock limittest.Clock
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})}
		ann := newInstance(t, way, limit, approx.Config{Now: clock.Now})
		bob := newInstance(t, way, limit, approx.Config{Now: clock.Now})
		test(&clock, way, ann, bob)
		ann.Close()
		bob.Close()
	})
}

// shared asserts what the shared store has in use.
func (i *instance) shared(way *link, key string, want int64) {
	i.Helper()
	if got := look(i, way.Store, i.space, key); got != want {
		i.Errorf("the shared store's %q: want %d in use, got %d", key, want, got)
	}
}

// A charge is known to its own instance at once, to the shared store after an exchange
// of it, and to another instance after one of that.
func TestExchange(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(_ *limittest.Clock, way *link, ann, bob *instance) {
				ann.take("k", 4)
				bob.take("k", 3)
				ann.used("k", 4)
				ann.shared(way, "k", 0)

				ann.flush()
				ann.shared(way, "k", 4)
				bob.used("k", 3)

				bob.flush()
				ann.shared(way, "k", 7)
				bob.used("k", 7)
				ann.used("k", 4)

				ann.flush() // of a key that was only looked at
				ann.used("k", 7)
				if r := ann.take("k", 4); r.Allowed || r.Remaining != 3 {
					t.Errorf("4 more of 10: allowed %v, %d remaining, want a denial and 3", r.Allowed, r.Remaining)
				}
				ann.flush() // of one that was denied
				ann.shared(way, "k", 7)
			})
		})
	}
}

// What comes between the sending of an exchange and its answer is neither lost nor
// counted twice.
func TestExchangeMeanwhile(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(100).Using(a), func(_ *limittest.Clock, way *link, ann, bob *instance) {
				bob.take("k", 30)
				bob.flush()
				ann.take("k", 4)
				way.onReceive = func() { ann.take("k", 5) } // the answer is on its way
				ann.flush()
				way.onReceive = nil
				ann.shared(way, "k", 34)
				ann.used("k", 39)
				ann.flush()
				ann.shared(way, "k", 39)
				ann.used("k", 39)
			})
		})
	}
}

// A shared store that forgot, or where somebody gave back, is followed downwards too.
func TestExchangeLess(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			pair(t, ratelimit.PerMinute(10).Using(a), func(clock *limittest.Clock, _ *link, ann, bob *instance) {
				ann.take("k", 10)
				ann.flush()
				clock.Advance(time.Minute) // what is left is in a sliding counter's last window
				ann.take("k", 3)
				ann.flush()
				bob.adjust(ratelimit.Reset, "k", 0, ratelimit.Receipt{})
				bob.take("k", 2)
				bob.flush()
				ann.take("k", 0)
				ann.flush()
				ann.used("k", 2)
			})
		})
	}
}

func TestExchangeOnlyWhatWasTouched(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		ann.take("k", 1)
		for flushes, calls := range []int{1, 1, 1} {
			ann.flush()
			if way.calls != calls {
				t.Errorf("%d Flushes: want %d calls, got %d", flushes+1, calls, way.calls)
			}
		}
		if s := ann.Stats(); s.Tracked != 0 || s.Exchanges != 1 {
			t.Errorf("want no key tracked and one exchange, got %+v", s)
		}
	})
}

// Many keys go in batches, several at once.
func TestExchangeOfManyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: 5 * time.Millisecond}}
		ann := newInstance(t, way, ratelimit.PerMinute(10), approx.Config{Every: time.Minute})
		for n := range 1000 {
			ann.take(strconv.Itoa(n), 1)
		}
		start := time.Now()
		ann.flush()
		if took := time.Since(start); took != 10*time.Millisecond {
			t.Errorf("want 8 batches at once, in 10ms, got %v", took)
		}
		if way.calls != 8 || way.charges != 128 {
			t.Errorf("want 8 calls of up to 128 charges, got %d of up to %d", way.calls, way.charges)
		}
		for n := range 1000 {
			ann.shared(way, strconv.Itoa(n), 1)
		}
	})
}

// A shared store that refuses batches, as a cluster does, is sent key by key.
func TestExchangeKeyByKey(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		way.narrow = fmt.Errorf("%w: keys of different slots", ratelimit.ErrMisuse)
		receipt := ann.take("back", 5).Receipt
		ann.flush()
		ann.adjust(ratelimit.Refund, "back", 2, receipt)
		for _, key := range []string{"a", "b", "c"} {
			ann.take(key, 2)
		}
		ann.flush()
		ann.shared(way, "back", 3)
		for _, key := range []string{"a", "b", "c"} {
			ann.shared(way, key, 2)
		}
	})
}

// A window that is over is none of the next one's business.
func TestExchangeOfAWindowThatIsOver(t *testing.T) {
	pair(t, ratelimit.PerMinute(10).Using(ratelimit.FixedWindow), func(clock *limittest.Clock, way *link, ann, bob *instance) {
		clock.Advance(59 * time.Second)
		ann.take("k", 8)
		clock.Advance(time.Second)
		ann.flush()
		ann.shared(way, "k", 0)
		ann.take("k", 1)
		ann.flush()
		ann.shared(way, "k", 1)
		ann.used("k", 1)

		// Nor is what could not be sent in it.
		clock.Advance(59 * time.Second)
		ann.take("k", 3)
		way.down = errors.New("down")
		way.onSend = func() {
			clock.Advance(time.Second)
			ann.take("k", 1)
		}
		if err := ann.Flush(ann.Context()); !errors.Is(err, way.down) {
			t.Errorf("want the store's error, got %v", err)
		}
		way.down, way.onSend = nil, nil
		ann.flush()
		ann.shared(way, "k", 1)

		// An answer that arrives in the next window says nothing about it.
		bob.take("k", 9)
		bob.flush()
		clock.Advance(59 * time.Second)
		ann.take("k", 0)
		way.onReceive = func() { clock.Advance(time.Second) }
		ann.flush()
		way.onReceive = nil
		ann.used("k", 0)
	})
}
