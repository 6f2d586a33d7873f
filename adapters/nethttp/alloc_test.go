//go:build !race

// The race detector makes sync.Pool drop things at random, which allocates.

package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// limiters returns a limiter whose policies admit everything and one that denies
// after the first request, by their number.
func limiters(key ratelimit.KeyFunc, cost ratelimit.CostFunc, policies int) map[string]*ratelimit.Limiter {
	all := make(map[string]*ratelimit.Limiter)
	for what, limit := range map[string]ratelimit.Limit{"allowed": ratelimit.PerSecond(1 << 30), "denied": ratelimit.PerDay(1000).WithBurst(1000)} {
		var list []ratelimit.Policy
		for i := range policies {
			list = append(list, ratelimit.Policy{Name: fmt.Sprintf("p%d", i), Limit: limit, Key: key, Cost: cost})
		}
		all[what] = ratelimit.Must(ratelimit.Config{Policies: list})
	}
	return all
}

func request(remoteAddr string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/users/7?q=1", strings.NewReader(strings.Repeat("x", 5000)))
	r.RemoteAddr, r.Pattern = remoteAddr, "POST /users/{id}"
	r.SetPathValue("id", "7")
	for name, value := range map[string]string{
		"X-Api-Key": "0123456789abcdef", "X-Tenant": "acme", "Content-Length": "5000",
		"Cookie": "theme=dark; session=s3cret", "Cf-Ipcountry": "SE",
		"X-Forwarded-For": "198.51.100.1, 2001:db8::7, 203.0.113.7",
	} {
		r.Header.Set(name, value)
	}
	return r
}

var peers = []string{"203.0.113.7:51514", "[2001:db8::9]:443"}

func TestMiddlewareAllocs(t *testing.T) { adaptertest.Allocs(t, 1, 2, build) }

func TestDecisionAllocs(t *testing.T) {
	tenant := func(r ratelimit.Request) string { return r.Header("X-Tenant") }
	trust := keyfuncs.TrustProxies("203.0.113.0/24", "2001:db8::/64")
	keys := map[string]ratelimit.KeyFunc{
		"ClientIP":           keyfuncs.ClientIP(),
		"ClientIP, trusting": keyfuncs.ClientIP(trust),
		"TrustedHeader":      keyfuncs.TrustedHeader("CF-IPCountry", trust),
		"Cookie":             keyfuncs.Cookie("session"),
		"Query":              keyfuncs.Query("q"),
		"PathValue":          keyfuncs.PathValue("id"),
		"Method":             keyfuncs.Method,
		"Host":               keyfuncs.Host,
		"Prefix":             keyfuncs.Prefix("web", keyfuncs.ClientIP()),
		"Header":             keyfuncs.Header("X-Tenant"),
		"APIKey":             keyfuncs.APIKey("X-Api-Key"),
		"User":               keyfuncs.User(tenant),
		"Tenant":             keyfuncs.Tenant(tenant),
		"Func":               keyfuncs.Func(tenant),
		"Route":              keyfuncs.Route,
		"Everyone":           keyfuncs.Everyone,
		"Hash":               keyfuncs.Hash(keyfuncs.Header("X-Tenant")),
		"Join":               keyfuncs.Join(keyfuncs.ClientIP(), keyfuncs.Route, keyfuncs.Header("X-Tenant")),
		"First":              keyfuncs.First(keyfuncs.Header("X-Missing"), keyfuncs.APIKey("X-Api-Key"), keyfuncs.ClientIP()),
	}
	byMethod := keyfuncs.CostByMethod(map[string]int64{"GET": 1, "POST": 2}, 3)
	byRoute := keyfuncs.CostByRoute(map[string]int64{"/users/{id}": 2}, 1)
	bySize := keyfuncs.BodySize(1024, 10)
	costs := map[string]ratelimit.CostFunc{
		"1": nil, "Fixed": keyfuncs.Fixed(3), "BodySize": bySize,
		"CostByMethod": byMethod, "CostByRoute": byRoute, "Product": keyfuncs.Product(byMethod, byRoute, bySize),
	}
	for keyName, key := range keys {
		for costName, cost := range costs {
			for _, policies := range []int{1, 3} {
				for what, limiter := range limiters(key, cost, policies) {
					for _, peer := range peers {
						if got := decisionAllocs(limiter, request(peer)); got != 0 {
							t.Errorf("%s, cost %s, %d policies, %s, %s: %v allocations from Begin to End, want 0", keyName, costName, policies, what, peer, got)
						}
					}
				}
			}
		}
	}
}

func decisionAllocs(limiter *ratelimit.Limiter, r *http.Request) float64 {
	prior := make(http.Header)
	decide := func() {
		t := limiter.Begin(httplimit.View(r))
		defer t.End(t.Status(), nil)
		t.Merge(prior.Get)
		for i := 0; ; i++ {
			if _, _, ok := t.HeaderAt(i); !ok {
				break
			}
		}
		if t.Status() != 0 {
			t.Body()
		}
	}
	for range 1100 {
		decide()
	}
	return testing.AllocsPerRun(100, decide)
}
