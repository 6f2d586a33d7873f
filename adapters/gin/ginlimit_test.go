package ginlimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func get(h http.Handler, path string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Result()
}

func TestLimitCountsForAllItStandsOn(t *testing.T) {
	limit := ginlimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	r := gin.New()
	r.GET("/a", limit, hello)
	r.GET("/b", limit, hello)
	r.GET("/c", ginlimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone), hello)

	limittest.AssertAllowed(t, get(r, "/a"))
	limittest.AssertAllowed(t, get(r, "/b"))
	limittest.AssertDenied(t, get(r, "/a"), 30*time.Minute)
	limittest.AssertAllowed(t, get(r, "/c"))
}

func TestMistakesPanicAtStart(t *testing.T) {
	adaptertest.Panics(t, map[string]func(){
		"limit":   func() { ginlimit.Limit(ratelimit.PerMinute(0), keyfuncs.Everyone) },
		"key":     func() { ginlimit.Limit(ratelimit.PerMinute(1), nil) },
		"limiter": func() { ginlimit.Middleware(nil) },
	})
}

// An option that is given nil changes nothing, whatever stood before.
func TestNilOptions(t *testing.T) {
	isProbe := func(c *gin.Context) bool { return c.FullPath() == "/probe" }
	say := func(c *gin.Context, _ ratelimit.Decision) { c.Status(http.StatusTeapot) }
	limiter := limittest.Deny(time.Minute).Limiter()
	r := gin.New()
	r.GET("/", ginlimit.Middleware(limiter, ginlimit.Skip(nil), ginlimit.Denied(nil)), hello)
	kept := ginlimit.Middleware(limiter, ginlimit.Skip(isProbe), ginlimit.Denied(say), ginlimit.Skip(nil), ginlimit.Denied(nil))
	r.GET("/kept", kept, hello)
	r.GET("/probe", kept, hello)

	limittest.AssertDenied(t, get(r, "/"), time.Minute)
	for path, want := range map[string]int{"/kept": http.StatusTeapot, "/probe": http.StatusOK} {
		if got := get(r, path).StatusCode; got != want {
			t.Errorf("%s: answered %d, want %d", path, got, want)
		}
	}
}

// gin answers these before it runs a middleware; the request that follows counts.
func TestRedirectsAreNotCounted(t *testing.T) {
	r := gin.New()
	r.RedirectFixedPath = true
	r.Use(ginlimit.Limit(ratelimit.PerMinute(1), keyfuncs.Everyone))
	r.GET("/here", hello)

	for _, path := range []string{"/here/", "/HERE", "/HERE/", "//here"} {
		resp := get(r, path)
		if resp.StatusCode != http.StatusMovedPermanently || resp.Header.Get("Location") != "/here" {
			t.Errorf("%s: %d to %q", path, resp.StatusCode, resp.Header.Get("Location"))
		}
		if got := resp.Header.Get("X-RateLimit-Limit"); got != "" {
			t.Errorf("%s: tells a limit of %s", path, got)
		}
	}
	limittest.AssertAllowed(t, get(r, "/here"))
	limittest.AssertDenied(t, get(r, "/here"), time.Minute)
}

// Nothing after a denial runs, whoever answers it.
func TestDenialsAbort(t *testing.T) {
	deny := limittest.Deny(time.Minute).Limiter()
	inHandler := func(c *gin.Context) {
		d, _ := deny.Allow(c, "ann", 1)
		ginlimit.Deny(c, d)
	}
	say := func(c *gin.Context, d ratelimit.Decision) { c.Writer.WriteString("no " + d.Policy) }
	for name, denier := range map[string]gin.HandlerFunc{
		"Middleware": ginlimit.Middleware(deny),
		"Denied":     ginlimit.Middleware(deny, ginlimit.Denied(say)), // the status is set for it
		"Deny":       inHandler,
	} {
		ran, aborted := false, false
		r := gin.New()
		r.Use(func(c *gin.Context) { c.Next(); aborted = c.IsAborted() })
		r.GET("/", denier, func(*gin.Context) { ran = true })
		limittest.AssertDenied(t, get(r, "/"), time.Minute)
		if ran || !aborted {
			t.Errorf("%s: the next handler ran: %t, aborted: %t", name, ran, aborted)
		}
	}
}

func TestPanicKeepsItsStack(t *testing.T) {
	adaptertest.PassesPanic(t, func(explode func()) {
		r := gin.New()
		r.GET("/", ginlimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone), func(*gin.Context) { explode() })
		get(r, "/")
	})
}
