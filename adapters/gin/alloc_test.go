//go:build !race

// The race detector makes sync.Pool drop things at random, which allocates.

package ginlimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// discard is a response that goes nowhere.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func TestMiddlewareAllocs(t *testing.T) {
	byUser := keyfuncs.Func(func(r ratelimit.Request) string { return r.PathValue("id") })
	for what, limit := range map[string]ratelimit.Limit{"allowed": ratelimit.PerSecond(1 << 30), "denied": ratelimit.PerDay(1)} {
		for name, key := range map[string]ratelimit.KeyFunc{
			"ClientIP": keyfuncs.ClientIP(), "Route": keyfuncs.Route, "path value": byUser,
		} {
			got := allocs(ginlimit.Limit(limit, key)) - allocs()
			if got > 2 {
				t.Errorf("%s, by %s: %v allocations over the bare route, want at most 2", what, name, got)
			}
		}
	}
}

// allocs serves a route behind the middlewares and counts.
func allocs(middlewares ...gin.HandlerFunc) float64 {
	r := gin.New()
	r.GET("/users/:id", append(middlewares, func(c *gin.Context) { c.Status(http.StatusOK) })...)
	w, req := discard{make(http.Header)}, httptest.NewRequest(http.MethodGet, "/users/7", nil)
	return testing.AllocsPerRun(200, func() {
		clear(w.header)
		r.ServeHTTP(w, req)
	})
}
