package stacktest_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// crowd is callers that ask again and again for one key, each by its own means. In
// between each makes a request under a key of its own, which nothing but the server
// can admit, so that it is known when it reached that.
type crowd struct {
	*stack
	t       *testing.T
	key     string
	keyOf   ratelimit.KeyFunc
	limits  *ratelimit.Limiter    // its own policy is that of the keys of their own
	reached [callers]atomic.Int64 // when the last request began that the server admitted, in ns
	stopped atomic.Bool
	running sync.WaitGroup
}

func newCrowd(t *testing.T, s *stack, key string) *crowd {
	c := &crowd{stack: s, t: t, key: key}
	c.keyOf = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, key...), nil }
	own := ratelimit.Policy{Name: "own", Limit: ratelimit.PerSecond(1_000_000), Key: c.keyOf}
	limits, err := ratelimit.New(ratelimit.Config{Store: s.store, Policies: []ratelimit.Policy{own}, Observer: s.tally})
	if err != nil {
		t.Fatal(err)
	}
	c.limits = limits
	return c
}

// with returns a limiter of one policy or several on the crowd's key.
func (c *crowd) with(policies ...ratelimit.Policy) *ratelimit.Limiter {
	for i := range policies {
		policies[i].Key = c.keyOf
	}
	return c.limits.With(policies...)
}

// start starts the callers. Each asks by one of several means.
func (c *crowd) start(asks ...func()) {
	c.t.Cleanup(c.stop) // where the test ends early
	for i := range callers {
		own := c.key + "-" + strconv.Itoa(i)
		c.running.Go(func() {
			for !c.stopped.Load() {
				asks[i%len(asks)]()
				began := time.Now().UnixNano()
				if d, _ := c.limits.Allow(context.Background(), own, 1); d.Outcome == ratelimit.Allowed {
					c.reached[i].Store(began)
				}
				time.Sleep(pace)
			}
		})
	}
}

// stop stops the callers, and waits until they have.
func (c *crowd) stop() {
	c.stopped.Store(true)
	c.running.Wait()
}

// allow returns a means to ask: a call of Allow. Closed says what a failed store means.
func (c *crowd) allow(l *ratelimit.Limiter, closed bool) func() {
	return func() {
		d, err := l.Allow(context.Background(), c.key, 1)
		if err != nil || d.Outcome == ratelimit.Errored || d.Outcome == ratelimit.Unavailable && d.Allowed() == closed {
			c.t.Errorf("Allow: %v, allowed %v, closed %v, error %v", d.Outcome, d.Allowed(), closed, err)
		}
	}
}

// serve returns a means to ask: a request to a server.
func (c *crowd) serve(l *ratelimit.Limiter, closed bool) func() {
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	app := httplimit.Middleware(l)(hello)
	return func() {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		c.answered(w.Code, closed)
	}
}

// acquire returns a means to ask: a job under several policies, each on its own key.
func (c *crowd) acquire(l *ratelimit.Limiter, closed bool, asks ...ratelimit.Ask) func() {
	return func() {
		ticket, err := l.Acquire(context.Background(), asks...)
		if err != nil {
			c.t.Errorf("Acquire: %v", err)
			return
		}
		c.answered(cmp.Or(ticket.Status(), http.StatusOK), closed)
		ticket.End(0, nil)
	}
}

// answered checks a status.
func (c *crowd) answered(status int, closed bool) {
	switch {
	case status == http.StatusOK, status == http.StatusTooManyRequests:
	case status == http.StatusServiceUnavailable && closed:
	default:
		c.t.Errorf("the status is %d, closed %v", status, closed)
	}
}

// used returns how much of a limiter's one policy is in use, or -1 where the server
// does not tell.
func (c *crowd) used(l *ratelimit.Limiter, key string) int64 {
	if d, _ := l.Peek(context.Background(), key); d.Outcome == ratelimit.Allowed {
		return d.Used
	}
	return -1
}

// untilUsed waits until so much of a limiter's one policy is in use.
func (c *crowd) untilUsed(l *ratelimit.Limiter, key string, want int64) {
	c.t.Helper()
	c.until("the quota of "+key+" to be used up", func() bool { return c.used(l, key) == want })
}

// untilReached waits until every caller got through to the server with a request
// that began after an instant. It notes how long that took. Where the machine stood
// still for half a time-out, the bound counts from then.
func (c *crowd) untilReached(after time.Time) {
	c.t.Helper()
	from, seen := after, time.Now()
	c.until("all callers to get decisions", func() bool {
		now := time.Now()
		if now.Sub(seen) > stall {
			from = now
		}
		seen = now
		for i := range c.reached {
			if c.reached[i].Load() < after.UnixNano() {
				return false
			}
		}
		return true
	})
	c.tally.recovered(time.Since(after))
	if took := time.Since(from); took > recovery {
		c.t.Errorf("all callers got decisions after %v, want at most %v", took, recovery)
	}
}

func (c *crowd) until(what string, reached func() bool) {
	c.t.Helper()
	for end := time.Now().Add(patience); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("waited %v for %s", patience, what)
		}
	}
}
