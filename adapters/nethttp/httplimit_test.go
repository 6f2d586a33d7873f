package httplimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func get(h http.Handler) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w.Result()
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestLimitCountsForAllItWraps(t *testing.T) {
	limit := httplimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	a, b := limit(http.HandlerFunc(ok)), limit(http.HandlerFunc(ok))
	limittest.AssertAllowed(t, get(a))
	limittest.AssertAllowed(t, get(b))
	limittest.AssertDenied(t, get(a), 30*time.Minute)

	other := httplimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	limittest.AssertAllowed(t, get(other(http.HandlerFunc(ok))))
}

func TestMistakesPanicAtStart(t *testing.T) {
	for name, build := range map[string]func(){
		"limit":   func() { httplimit.Limit(ratelimit.PerMinute(0), keyfuncs.Everyone) },
		"key":     func() { httplimit.Limit(ratelimit.PerMinute(1), nil) },
		"limiter": func() { httplimit.Middleware(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}

func explode(http.ResponseWriter, *http.Request) { panic("boom") }

func TestPanicKeepsItsStack(t *testing.T) {
	h := httplimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone)(http.HandlerFunc(explode))
	defer func() {
		if v := recover(); v != "boom" {
			t.Errorf("recovered %v, want boom", v)
		}
		if stack := string(debug.Stack()); !strings.Contains(stack, "_test.explode(") {
			t.Errorf("the panicking function is not on the stack:\n%s", stack)
		} else if n := strings.Count(stack, "\npanic("); n != 1 {
			t.Errorf("it panics %d times on the stack, want once:\n%s", n, stack)
		}
	}()
	get(h)
}

// The values of all headers share one slice, which a handler may append to.
func TestHandlerMayAddToHeaders(t *testing.T) {
	add := func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			w.Header().Add(name, "added to "+name)
		}
	}
	h := httplimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone)(http.HandlerFunc(add)).ServeHTTP
	header := get(http.HandlerFunc(h)).Header
	for name, want := range map[string]string{"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "4"} {
		if got := header.Values(name); len(got) != 2 || got[0] != want || got[1] != "added to "+name {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What a handler, or a limiter further out, has said before still counts.
func TestDenyKeepsTheLongerRetryAfter(t *testing.T) {
	accounts := limittest.Deny(time.Minute).Limiter()
	for prior, want := range map[string]time.Duration{"120": 2 * time.Minute, "5": time.Minute, "": time.Minute, "soon": time.Minute} {
		limittest.AssertDenied(t, get(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if prior != "" {
				w.Header().Set("Retry-After", prior)
			}
			d, _ := accounts.Allow(r.Context(), "ann", 1)
			httplimit.Deny(w, r, d)
		})), want)
	}
}

func TestDeadlineEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{{
			Name: "slow", Limit: ratelimit.PerHour(1), Key: keyfuncs.Everyone, Over: ratelimit.Delay(time.Hour),
		}}})
		ran := 0
		h := httplimit.Middleware(limits)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ran++ }))
		limittest.AssertAllowed(t, get(h))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin, w := time.Now(), httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		if waited := time.Since(begin); waited != time.Minute || w.Code != http.StatusServiceUnavailable || ran != 1 {
			t.Errorf("answered %d after %v, %d runs; want 503 after a minute, 1 run", w.Code, waited, ran)
		}

		begin = time.Now()
		limittest.AssertAllowed(t, get(h)) // the place in the queue was given back
		if waited := time.Since(begin); waited != 59*time.Minute {
			t.Errorf("waited %v, want 59m", waited)
		}
	})
}
