package fiberlimit_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func TestWipedHeadersAreSetAgain(t *testing.T) {
	limit := ratelimit.PerHour(2)
	wipe := func(c *fiber.Ctx) error { c.Response().Reset(); return ok(c) }
	fail := func(c *fiber.Ctx) error { c.Response().Reset(); return errors.New("broken") }
	denied := fiberlimit.Denied(func(c *fiber.Ctx, _ ratelimit.Decision) error {
		c.Response().Reset()
		return fiber.ErrTooManyRequests
	})
	app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		c.Set("X-Seen", c.GetRespHeader("X-RateLimit-Remaining"))
		return fiber.DefaultErrorHandler(c, err)
	}})
	app.Get("/wipes", fiberlimit.Limit(limit, keyfuncs.Everyone, denied), wipe)
	app.Get("/fails", fiberlimit.Limit(limit, keyfuncs.Everyone), fail)

	limittest.AssertAllowed(t, do(t, app, "GET", "/wipes"))
	limittest.AssertAllowed(t, do(t, app, "GET", "/wipes"))
	limittest.AssertDenied(t, do(t, app, "GET", "/wipes"), 30*time.Minute)
	if got := do(t, app, "GET", "/fails"); got.StatusCode != 500 || got.Header.Get("X-Seen") != "1" || got.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("a handler that fails: %d %v", got.StatusCode, got.Header)
	}
}

// replacing returns a handler that answers with these headers and no others.
func replacing(status int, headers ...string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Response().Reset()
		for pair := range slices.Chunk(headers, 2) {
			c.Set(pair[0], pair[1])
		}
		return c.SendStatus(status)
	}
}

// limits returns a limiter of one policy that tells all it can, and whose clock stands.
func limits(name string, quota int64) *ratelimit.Limiter {
	clock := new(limittest.Clock)
	return ratelimit.Must(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}),
		Headers:  ratelimit.HeaderStyle{Draft: ratelimit.Draft11, ResetDelta: true},
		Policies: []ratelimit.Policy{{Name: name, Limit: ratelimit.PerHour(quota).Using(ratelimit.FixedWindow), Key: keyfuncs.Everyone}},
	})
}

// Of what a handler puts in the place of the headers, the stricter is told.
func TestReplacedHeadersAreMerged(t *testing.T) {
	const policy, left = `"p";q=4;w=3600`, `"p";r=3;t=3600`
	for kind, test := range map[string]struct {
		handler                  fiber.Handler
		limit, remaining         string
		policies, lists, retries string
	}{
		"nothing":       {ok, "4", "3", policy, left, ""},
		"wiped":         {replacing(200, "Cache-Control", "private"), "4", "3", policy, left, ""},
		"laxer":         {replacing(200, "X-RateLimit-Limit", "1000", "X-RateLimit-Remaining", "999"), "4", "3", policy, left, ""},
		"same limit":    {replacing(200, "X-RateLimit-Limit", "4", "X-RateLimit-Remaining", "1"), "4", "1", policy, left, ""},
		"stricter":      {replacing(200, "X-RateLimit-Limit", "1000", "X-RateLimit-Remaining", "9"), "1000", "9", policy, left, ""},
		"in part":       {replacing(200, "X-RateLimit-Limit", "1000"), "4", "3", policy, left, ""},
		"no number":     {func(c *fiber.Ctx) error { c.Set("X-RateLimit-Remaining", "many"); return nil }, "4", "3", policy, left, ""},
		"lists":         {replacing(200, "RateLimit-Policy", `"up";q=9`, "RateLimit", `"up";r=8`), "4", "3", `"up";q=9, ` + policy, `"up";r=8, ` + left, ""},
		"another's":     {replacing(503, "Retry-After", "7"), "4", "3", policy, left, "7"},
		"a denial":      {replacing(429, "X-RateLimit-Limit", "9", "X-RateLimit-Remaining", "8", "RateLimit", `"up";r=0`), "9", "8", "", `"up";r=0`, ""},
		"a bare denial": {replacing(429), "4", "3", policy, left, ""},
	} {
		app := fiber.New()
		app.Get("/", fiberlimit.Middleware(limits("p", 4)), test.handler)
		header := do(t, app, "GET", "/").Header
		for name, want := range map[string]string{
			"X-Ratelimit-Limit": test.limit, "X-Ratelimit-Remaining": test.remaining,
			"Ratelimit-Policy": test.policies, "Ratelimit": test.lists, "Retry-After": test.retries,
		} {
			if got := header[name]; len(got) > 1 || header.Get(name) != want {
				t.Errorf("%s: %s: %q, want %q", kind, name, got, want)
			}
		}
	}
}

// A limiter further out leaves what one further in told, and one that resets what both
// told loses neither.
func TestNestedHeadersStay(t *testing.T) {
	for name, test := range map[string]struct {
		outer, inner int64
		handler      fiber.Handler
		remaining    string
		policies     string
	}{
		"the inner is stricter": {9, 2, ok, "1", `"outer";q=9;w=3600, "inner";q=2;w=3600`},
		"the outer is stricter": {2, 9, ok, "1", `"outer";q=2;w=3600, "inner";q=9;w=3600`},
		"the same":              {5, 5, ok, "4", `"outer";q=5;w=3600, "inner";q=5;w=3600`},
		"wiped, inner stricter": {9, 2, replacing(200), "1", `"inner";q=2;w=3600, "outer";q=9;w=3600`},
		"wiped, outer stricter": {2, 9, replacing(200), "1", `"inner";q=9;w=3600, "outer";q=2;w=3600`},
	} {
		app := fiber.New()
		app.Get("/", fiberlimit.Middleware(limits("outer", test.outer)), fiberlimit.Middleware(limits("inner", test.inner)), test.handler)
		header := do(t, app, "GET", "/").Header
		if got := header.Get("X-RateLimit-Remaining"); got != test.remaining {
			t.Errorf("%s: %q left, want %s", name, got, test.remaining)
		}
		if got := header.Values("RateLimit-Policy"); len(got) != 1 || got[0] != test.policies {
			t.Errorf("%s: policies %q, want %q", name, got, test.policies)
		}
	}

	app := fiber.New()
	inner := limits("inner", 1)
	app.Get("/", fiberlimit.Middleware(limits("outer", 9)), fiberlimit.Middleware(inner), ok)
	do(t, app, "GET", "/")
	denied := do(t, app, "GET", "/")
	limittest.AssertDenied(t, denied, time.Hour)
	if got, want := denied.Header.Get("RateLimit-Policy"), `"inner";q=1;w=3600`; got != want {
		t.Errorf("a denial further in: policies %q, want %q", got, want)
	}
}

// Denied's handler may set some of the headers itself, or start from nothing.
func TestDeniedMayResetTheResponse(t *testing.T) {
	for name, handler := range map[string]fiber.Handler{
		"cacheable": replacing(http.StatusTooManyRequests, "Cache-Control", "no-cache"),
		"too soon":  replacing(http.StatusTooManyRequests, "Retry-After", "5", "X-RateLimit-Limit", "1000"),
		"cleared":   replacing(http.StatusTooManyRequests),
	} {
		app := fiber.New()
		answer := func(c *fiber.Ctx, _ ratelimit.Decision) error { return handler(c) }
		app.Get("/", fiberlimit.Middleware(limits("p", 1), fiberlimit.Denied(answer)), ok)
		do(t, app, "GET", "/")
		resp := do(t, app, "GET", "/")
		limittest.AssertDenied(t, resp, time.Hour)
		if limit, cache := resp.Header.Get("X-RateLimit-Limit"), resp.Header.Get("Cache-Control"); limit != "1" || cache != "no-store" {
			t.Errorf("%s: X-RateLimit-Limit %q, Cache-Control %q", name, limit, cache)
		}
	}
}
