package approx_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/limittest"
)

var errLink = errors.New("the link is broken")

// doubts are the ways in which an exchange ends that may have charged.
var doubts = map[string]way{
	"all replies lost":      {lost: errLink},
	"replies lost":          {lost: errLink, looksPass: true},
	"down":                  {down: errLink},
	"down, but it is asked": {down: errLink, looksPass: true}, // a replica that was a primary
}

// fail makes an exchange that fails.
func (i *instance) fail(want error) {
	i.Helper()
	if err := i.Flush(i.Context()); !errors.Is(err, want) {
		i.Errorf("want an exchange that ends with %v, got %v", want, err)
	}
}

// However often an exchange fails, and whether it charged or not, each unit is charged
// once.
func TestDoubt(t *testing.T) {
	for name, broken := range doubts {
		for _, a := range algorithms {
			t.Run(name+", "+a.String(), func(t *testing.T) {
				pair(t, ratelimit.PerMinute(1000).Using(a), func(_ *limittest.Clock, way *link, ann, _ *instance) {
					ann.take("k", 100)
					ann.flush()
					way.way = broken
					ann.take("k", 50)
					ann.fail(errLink)
					for range 20 {
						_ = ann.Flush(ann.Context()) // a look may be all there is to do
					}
					for range 20 {
						ann.take("k", 5)
						ann.fail(errLink)
					}
					way.way = link{}.way
					ann.flush()
					ann.shared(way, "k", 250)
					ann.used("k", 250)
					ann.flush()
					ann.shared(way, "k", 250)
				})
			})
		}
	}
}

// The first exchange of a key has nothing to compare with but the copy.
func TestDoubtAfterAPause(t *testing.T) {
	for name, broken := range doubts {
		for _, a := range algorithms {
			t.Run(name+", "+a.String(), func(t *testing.T) {
				pair(t, ratelimit.PerMinute(1000).Using(a), func(_ *limittest.Clock, way *link, ann, _ *instance) {
					ann.take("k", 100)
					ann.flush()
					ann.flush() // forgets the key
					way.way = broken
					ann.take("k", 50)
					ann.fail(errLink)
					way.way = link{}.way
					ann.flush()
					want := int64(150)
					switch {
					case broken.lost != nil:
					case a == ratelimit.SlidingCounter: // nobody knows what drained of the 100
						want = 100
					case a != ratelimit.FixedWindow: // nor how a bucket's last unit was rounded
						want = 149
					}
					ann.shared(way, "k", want)
				})
			})
		}
	}
}

// What others charge meanwhile may be taken for what is in doubt, and for no more: what
// was never sent is sent in full.
func TestDoubtOfTwo(t *testing.T) {
	for name, broken := range doubts {
		for _, a := range algorithms {
			t.Run(name+", "+a.String(), func(t *testing.T) {
				pair(t, ratelimit.PerMinute(1000).Using(a), func(_ *limittest.Clock, way *link, ann, bob *instance) {
					ann.take("k", 50)
					bob.take("k", 7)
					way.way = broken
					ann.fail(errLink)
					way.way = link{}.way
					bob.flush()
					ann.take("k", 30)
					ann.flush()
					want := int64(50 + 7 + 30)
					if broken.down != nil {
						want -= 7
					}
					ann.shared(way, "k", want)
					ann.used("k", want)
					ann.take("k", 1) // and all is as ever
					ann.flush()
					ann.shared(way, "k", want+1)
				})
			})
		}
	}
}

// What is given back of units in doubt comes out of them, charged or not.
func TestDoubtAndRefund(t *testing.T) {
	for name, broken := range doubts {
		for _, a := range algorithms {
			t.Run(name+", "+a.String(), func(t *testing.T) {
				pair(t, ratelimit.PerMinute(1000).Using(a), func(_ *limittest.Clock, way *link, ann, _ *instance) {
					for _, back := range []int64{4, 10} {
						receipt := ann.take("k", 10).Receipt
						way.way = broken
						ann.fail(errLink)
						ann.adjust(ratelimit.Refund, "k", back, receipt)
						_ = ann.Flush(ann.Context())
						way.way = link{}.way
						ann.flush()
						ann.shared(way, "k", 6)
						ann.used("k", 6)
					}
				})
			})
		}
	}
}

// TestNeverTwice runs random traces of two instances, one of which is on a bad link: the
// shared store never charges more for it than it admitted, and while nothing drains
// misses at most what the other charged.
func TestNeverTwice(t *testing.T) {
	for _, a := range algorithms {
		for _, drains := range []bool{false, true} {
			for seed := range uint64(100) {
				neverTwice(t, ratelimit.PerMinute(1000).Using(a), drains, seed)
			}
		}
	}
}

func neverTwice(t *testing.T, limit ratelimit.Limit, drains bool, seed uint64) {
	pair(t, limit, func(clock *limittest.Clock, way *link, ann, _ *instance) {
		good := &link{Store: way.Store}
		random := rand.New(rand.NewPCG(seed, 0))
		if limit.Algorithm != ratelimit.FixedWindow { // which may charge in two windows where the clocks differ
			skew := time.Duration(random.IntN(2001)-1000) * time.Millisecond
			ann = newInstance(ann.TB, way, limit, approx.Config{Now: func() time.Time { return clock.Now().Add(skew) }})
		}
		bob := newInstance(ann.TB, good, limit, approx.Config{Now: clock.Now})
		ways := []link{{}, {}, {way: doubts["all replies lost"]}, {way: doubts["replies lost"]}, {way: doubts["down"]}, {way: doubts["down, but it is asked"]}}
		var taken, others int64
		for step := range 60 {
			// A key that is forgotten has nothing but the copy to go by, and a sliding counter
			// not even that.
			if random.IntN(5) == 0 && (drains || limit.Algorithm != ratelimit.SlidingCounter) {
				way.way = link{}.way
				ann.flush()
				ann.flush()
			}
			if drains {
				clock.Advance(time.Duration(random.IntN(5000)) * time.Millisecond)
			}
			taken += ann.take("k", random.Int64N(30)).Receipt.Units
			others += bob.take("k", random.Int64N(4)).Receipt.Units
			way.way = ways[random.IntN(len(ways))].way
			_ = ann.Flush(ann.Context())
			if random.IntN(2) == 0 {
				bob.flush()
			}
			if way.charged > taken {
				t.Fatalf("%v, seed %d, step %d: %d charged of %d admitted", limit.Algorithm, seed, step, way.charged, taken)
			}
		}
		way.way = link{}.way
		ann.flush()
		if missing := taken - way.charged; missing < 0 || !drains && missing > others {
			t.Errorf("%v, seed %d: %d missing of %d, want 0 to what others charged, %d", limit.Algorithm, seed, missing, taken, others)
		}
		ann.Close()
		bob.Close()
	})
}

// A breaker leaves calls behind that charge all the same.
func TestDoubtOverABreaker(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := ratelimit.NewMemory(ratelimit.MemoryConfig{})
				way := &link{Store: memory, way: way{oneWay: 60 * time.Millisecond}}
				around, err := breaker.New(patient{way}, breaker.Config{Timeout: 100 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				ann := newInstance(t, around, ratelimit.PerDay(1000).Using(a), approx.Config{})
				ann.take("k", 50)
				time.Sleep(20 * time.Second)
				way.set(func(l *link) { l.oneWay = time.Millisecond })
				time.Sleep(20 * time.Second)
				ann.shared(way, "k", 50)
				ann.Close()
			})
		})
	}
}

// patient is a store that does not look at its context.
type patient struct{ *link }

func (p patient) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return p.link.Take(context.Background(), charges, results)
}
