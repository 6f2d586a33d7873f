package stacktest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/keyfuncs"
)

var algorithms = []ratelimit.Algorithm{
	ratelimit.TokenBucket, ratelimit.GCRA, ratelimit.LeakyBucket,
	ratelimit.FixedWindow, ratelimit.SlidingLog, ratelimit.SlidingCounter,
}

// instance is one of those that share a server, with all that is its own: a client, a
// breaker, and a cache of denials.
type instance struct {
	stack

	redis *redisstore.Store
	fuse  *breaker.Store
	cache *denycache.Store
}

// layers says how the layers of an instance differ from the usual.
type layers struct {
	timeout time.Duration // of a call, for the server's client as for the breaker
	openFor time.Duration
	maxAge  time.Duration
	now     func() time.Time // for the server as for the cache
}

func newInstance(t *testing.T, url string, l layers) *instance {
	t.Helper()
	i := &instance{stack: stack{tally: newTally(t)}}
	var err error
	if i.redis, err = redisstore.Open(url, redisstore.Config{Timeout: l.timeout, Now: l.now, Observer: i.tally}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.redis.Close() })
	if i.fuse, err = breaker.New(i.redis, breaker.Config{Timeout: l.timeout, OpenFor: l.openFor}); err != nil {
		t.Fatal(err)
	}
	if i.cache, err = denycache.New(i.fuse, denycache.Config{MaxAge: l.maxAge, Now: l.now}); err != nil {
		t.Fatal(err)
	}
	i.store = i.cache
	return i
}

// limiter returns one of the stack's store. Policies without a key count by the client's
// address.
func (s *stack) limiter(t *testing.T, policies ...ratelimit.Policy) *ratelimit.Limiter {
	t.Helper()
	return s.configured(t, ratelimit.Config{Policies: policies})
}

func (s *stack) configured(t *testing.T, config ratelimit.Config) *ratelimit.Limiter {
	t.Helper()
	config.Store, config.Observer = s.store, s.tally
	for i := range config.Policies {
		if p := &config.Policies[i]; p.Key == nil {
			p.Key = keyfuncs.ClientIP()
		}
	}
	l, err := ratelimit.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// app returns an app behind a limiter.
func app(l *ratelimit.Limiter) http.Handler {
	return httplimit.Middleware(l)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
}

// get returns how an app answers a request, which is from 192.0.2.1.
func get(app http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w
}

const client = "192.0.2.1" // that of get

// allow makes a call of Allow that nothing is wrong with.
func allow(t *testing.T, l *ratelimit.Limiter, key string, cost int64) ratelimit.Decision {
	t.Helper()
	d, err := l.Allow(t.Context(), key, cost)
	if err != nil || d.Outcome == ratelimit.Unavailable {
		t.Fatalf("%d units of %q: %+v, error %v", cost, key, d, err)
	}
	return d
}

// number returns what a server's reply says.
func number(t *testing.T, reply any) int64 {
	t.Helper()
	n, err := strconv.ParseInt(fmt.Sprint(reply), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// hangUp returns how an app answers a client that is gone already.
func hangUp(t *testing.T, app http.Handler) int {
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil))
	return w.Code
}
