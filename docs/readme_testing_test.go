package docs_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func newApp(store ratelimit.Store) http.Handler {
	limits := ratelimit.Must(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{
		{Name: "login", Limit: ratelimit.PerMinute(2), Key: keyfuncs.ClientIP()},
	}})
	return httplimit.Middleware(limits)(http.NotFoundHandler())
}

func TestLoginLimit(t *testing.T) {
	var clock limittest.Clock // stands still until it is told to move
	app := newApp(ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}))
	login := func() *http.Response {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest("POST", "/login", nil))
		return w.Result()
	}

	limittest.AssertAllowed(t, login())
	limittest.AssertAllowed(t, login())
	limittest.AssertDenied(t, login(), 30*time.Second)

	clock.Advance(30 * time.Second)
	limittest.AssertAllowed(t, login())
}
