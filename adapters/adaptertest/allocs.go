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
// the bare route, whether it admits or denies and however many policies there are.
// build builds the app, for frameworks that are net/http handlers. Under the race
// detector pools drop things at random: call it without.
func Allocs(t *testing.T, most float64, build func(App) http.Handler) {
	t.Helper()
	bare := Route{Pattern: "/users/{id}"}
	const peer, peer6 = "203.0.113.7:51514", "[2001:db8::9]:443"
	base := allocs(t, build(App{Routes: []Route{bare}}), peer, http.StatusOK)
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
				limited := bare
				limited.Use = []Middleware{{Limiter: ratelimit.Must(ratelimit.Config{Policies: policies})}}
				app := build(App{Routes: []Route{limited}})
				if got := max(allocs(t, app, peer, status), allocs(t, app, peer6, status)) - base; got > most {
					t.Errorf("answering %d, %d policies by %s: %v allocations over the bare route, want at most %v",
						status, len(policies), name, got, most)
				}
			}
		}
	}
}

func allocs(t *testing.T, h http.Handler, peer string, status int) float64 {
	t.Helper()
	w, r := &discard{header: make(http.Header)}, httptest.NewRequest(http.MethodGet, "/users/7", nil)
	r.RemoteAddr = peer
	serve := func() {
		clear(w.header)
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
