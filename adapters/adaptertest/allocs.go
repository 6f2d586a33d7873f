package adaptertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// Allocs checks that the middleware allocates at most that often for a request, over
// the bare route, whether it admits or denies and however many policies there are:
// most where the response has headers anyway, so that their map has its room, fresh
// where those of the limiter are its first. build builds the app, for frameworks that
// are net/http handlers. Under the race detector pools drop things at random: call it
// without.
func Allocs(t *testing.T, most, fresh float64, build func(App) http.Handler) {
	t.Helper()
	byUser := keyfuncs.Func(func(r ratelimit.Request) string { return r.PathValue("id") })
	for status, limit := range map[int]ratelimit.Limit{
		http.StatusOK: ratelimit.PerSecond(1 << 30), http.StatusTooManyRequests: ratelimit.PerDay(1),
	} {
		for name, key := range map[string]ratelimit.KeyFunc{
			"ClientIP": keyfuncs.ClientIP(), "Route": keyfuncs.Route, "path value": byUser,
		} {
			var policies []ratelimit.Policy
			for i := range 3 {
				policies = append(policies, ratelimit.Policy{Name: fmt.Sprintf("p%d", i), Limit: limit, Key: key})
				limiter := ratelimit.Must(ratelimit.Config{Policies: policies})
				if got := overhead(t, build, OKHandler, limiter, status, false); got > most {
					t.Errorf("answering %d, %d policies by %s: %v allocations over the bare route, want at most %v",
						status, len(policies), name, got, most)
				}
				if got := overhead(t, build, StatusHandler, limiter, status, true); got > fresh {
					t.Errorf("answering %d, %d policies by %s: %v allocations over a bare route without headers, want at most %v",
						status, len(policies), name, got, fresh)
				}
			}
		}
	}
}

// overhead returns how much more often the route allocates behind the limiter.
func overhead(
	t *testing.T, build func(App) http.Handler, handler HandlerKind, limiter *ratelimit.Limiter, status int, fresh bool,
) float64 {
	t.Helper()
	bare := Route{Pattern: "/users/{id}", Handler: handler}
	limited := bare
	limited.Use = []Middleware{{Limiter: limiter}}
	without, with := build(App{Routes: []Route{bare}}), build(App{Routes: []Route{limited}})
	const peer, peer6 = "203.0.113.7:51514", "[2001:db8::9]:443"
	return max(allocs(t, with, peer, status, fresh), allocs(t, with, peer6, status, fresh)) -
		allocs(t, without, peer, http.StatusOK, fresh)
}

func allocs(t *testing.T, h http.Handler, peer string, status int, fresh bool) float64 {
	t.Helper()
	w, r := &discard{header: make(http.Header)}, httptest.NewRequest(http.MethodGet, "/users/7", nil)
	r.RemoteAddr = peer
	serve := func() {
		if fresh {
			w.header = make(http.Header)
		} else {
			clear(w.header)
		}
		w.status = http.StatusOK
		h.ServeHTTP(w, r)
	}
	serve() // the one that a quota of 1 admits
	n := testing.AllocsPerRun(200, serve)
	if w.status != status {
		t.Errorf("answered %d, want %d", w.status, status)
	}
	return n
}

// discard is a response that goes nowhere.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
