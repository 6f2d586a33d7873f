package stacktest_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// outage is an app's two routes, one that fails open and one that fails closed, and
// the proxy before their server.
type outage struct {
	*instance

	proxy        *redistest.Proxy
	open, closed http.Handler
}

// newOutage returns them with the server lost, once it has been reached.
func newOutage(t *testing.T, l layers) outage {
	t.Helper()
	o := outage{proxy: redistest.NewProxy(t, redistest.Start(t).Addr())}
	o.instance = newInstance(t, "redis://"+o.proxy.Addr(), l)
	o.open = app(o.limiter(t, ratelimit.Policy{Name: "open", Limit: ratelimit.Per(1000, ages)}))
	o.closed = app(o.limiter(t, ratelimit.Policy{Name: "closed", Limit: ratelimit.Per(1000, ages), OnFailure: ratelimit.FailClosed}))
	for _, app := range []http.Handler{o.open, o.closed} {
		if w := get(app); w.Code != http.StatusOK || w.Header().Get("X-RateLimit-Remaining") != "999" {
			t.Fatalf("before the outage: %d, %v", w.Code, w.Header())
		}
	}
	o.proxy.BlackHole()
	return o
}

// ask makes one request of each route.
func (o outage) ask(t *testing.T) {
	t.Helper()
	if w := get(o.open); w.Code != http.StatusOK || w.Body.String() != "hello" {
		t.Errorf("open: %d, %s", w.Code, w.Body)
	}
	if w := get(o.closed); w.Code != http.StatusServiceUnavailable || w.Body.String() != `{"error":"unavailable"}` {
		t.Errorf("closed: %d, %s", w.Code, w.Body)
	}
}

// A server that is lost costs all requests together one time-out, or one each where all
// come at once.
func TestOutageCostsOneTimeout(t *testing.T) {
	const timeout, requests = 500 * time.Millisecond, 100
	want := func(t *testing.T, o outage, opened, refused int64) {
		t.Helper()
		if got := o.fuse.Stats(); o.fuse.State() != breaker.Open || got.Opened != opened || got.Refused != refused {
			t.Errorf("%+v, want it opened %d times and %d refused", got, opened, refused)
		}
	}
	inTime := func(t *testing.T, start time.Time) {
		t.Helper()
		if took := time.Since(start); took > 3*timeout {
			t.Errorf("%d requests took %v, with a time-out of %v", requests, took, timeout)
		}
	}
	t.Run("one by one", func(t *testing.T) {
		o := newOutage(t, layers{timeout: timeout, openFor: time.Hour})
		sent, start := o.proxy.Requests("evalsha", "eval"), time.Now()
		for range requests / 2 {
			o.ask(t)
		}
		inTime(t, start)
		want(t, o, 1, requests-1)
		if n := o.proxy.Requests("evalsha", "eval") - sent; n != 1 {
			t.Errorf("%d calls were sent, want 1", n)
		}
	})
	t.Run("at once", func(t *testing.T) {
		o := newOutage(t, layers{timeout: timeout, openFor: time.Hour})
		all := func() {
			var wg sync.WaitGroup
			for range requests / 2 {
				wg.Go(func() { o.ask(t) })
			}
			wg.Wait()
		}
		start := time.Now()
		all()
		inTime(t, start)
		refused := o.fuse.Stats().Refused
		all()
		want(t, o, 1, refused+requests)
	})
}

// Instances that count by themselves while the server is lost admit no more together
// than the limit.
func TestLocalSharesAreBounded(t *testing.T) {
	const instances, each, quota = 4, 100, 20
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	proxy.BlackHole()
	var wg sync.WaitGroup
	answers := make([]int, instances*each)
	for n := range instances {
		i := newInstance(t, "redis://"+proxy.Addr(), layers{timeout: 50 * time.Millisecond, openFor: time.Hour})
		app := app(i.configured(t, ratelimit.Config{
			Policies:  []ratelimit.Policy{{Name: "local", Limit: ratelimit.Per(quota, ages)}},
			OnFailure: ratelimit.FailLocal, Fallback: ratelimit.NewMemory(ratelimit.MemoryConfig{}), Share: 1.0 / instances,
		}))
		for k := range each {
			wg.Go(func() { answers[n*each+k] = get(app).Code })
		}
	}
	wg.Wait()
	times := map[int]int{}
	for _, status := range answers {
		times[status]++
	}
	if times[http.StatusOK] != quota || times[http.StatusTooManyRequests] != len(answers)-quota {
		t.Errorf("answered %v times, want %d admitted and all others denied", times, quota)
	}
}

// A limiter is made without its server, and works once that is there.
func TestLimiterMadeWhileDown(t *testing.T) {
	for name, down := range map[string]func(*redistest.Proxy){
		"refused":    (*redistest.Proxy).Refuse,
		"black hole": (*redistest.Proxy).BlackHole,
	} {
		t.Run(name, func(t *testing.T) {
			proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
			down(proxy)
			i := newInstance(t, "redis://"+proxy.Addr(), layers{openFor: time.Millisecond})
			l := i.limiter(t, ratelimit.Policy{Name: "p", Limit: ratelimit.Per(10, ages), OnFailure: ratelimit.FailClosed})
			if n := proxy.Connections(); n > 0 {
				t.Errorf("%d connections before the first request", n)
			}
			app := app(l)
			if w := get(app); w.Code != http.StatusServiceUnavailable {
				t.Errorf("while it is down: %d", w.Code)
			}
			proxy.Pass()
			for end := time.Now().Add(patience); get(app).Code != http.StatusOK; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("it never worked")
				}
			}
		})
	}
}

// Who hangs up is charged all the same, and the store is not blamed.
func TestClientsThatHangUp(t *testing.T) {
	server := redistest.Start(t)
	stacks(t, server.URL(), enough, func(t *testing.T, s *stack) {
		l := s.limiter(t, ratelimit.Policy{Name: "p", Limit: ratelimit.Per(10, ages), OnFailure: ratelimit.FailClosed})
		app := app(l)
		var answers []int
		for range 12 {
			answers = append(answers, hangUp(t, app))
		}
		want := append(slices.Repeat([]int{http.StatusOK}, 10), http.StatusTooManyRequests, http.StatusTooManyRequests)
		if !slices.Equal(answers, want) {
			t.Errorf("answered %v, want %v", answers, want)
		}
		s.exactly(t, 10, "p "+client)
		if used := allow(t, l, client, 0).Used; used != 10 {
			t.Errorf("%d in use, want 10", used)
		}
	})
}
