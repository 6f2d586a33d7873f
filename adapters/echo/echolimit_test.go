package echolimit_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
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
	limit := echolimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	e := echo.New()
	e.GET("/a", hello, limit)
	e.GET("/b", hello, limit)
	e.GET("/c", hello, echolimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone))

	limittest.AssertAllowed(t, get(e, "/a"))
	limittest.AssertAllowed(t, get(e, "/b"))
	limittest.AssertDenied(t, get(e, "/a"), 30*time.Minute)
	limittest.AssertAllowed(t, get(e, "/c"))
}

func TestMistakesPanicAtStart(t *testing.T) {
	adaptertest.Panics(t, map[string]func(){
		"limit":   func() { echolimit.Limit(ratelimit.PerMinute(0), keyfuncs.Everyone) },
		"key":     func() { echolimit.Limit(ratelimit.PerMinute(1), nil) },
		"limiter": func() { echolimit.Middleware(nil) },
	})
}

// An option that is given nil changes nothing, whatever stood before.
func TestNilOptions(t *testing.T) {
	isProbe := func(c echo.Context) bool { return c.Path() == "/probe" }
	say := func(c echo.Context, _ ratelimit.Decision) error { return c.NoContent(http.StatusTeapot) }
	limiter := limittest.Deny(time.Minute).Limiter()
	e := echo.New()
	e.GET("/", hello, echolimit.Middleware(limiter, echolimit.Skip(nil), echolimit.Denied(nil)))
	kept := echolimit.Middleware(limiter, echolimit.Skip(isProbe), echolimit.Denied(say), echolimit.Skip(nil), echolimit.Denied(nil))
	e.GET("/kept", hello, kept)
	e.GET("/probe", hello, kept)

	limittest.AssertDenied(t, get(e, "/"), time.Minute)
	for path, want := range map[string]int{"/kept": http.StatusTeapot, "/probe": http.StatusOK} {
		if got := get(e, path).StatusCode; got != want {
			t.Errorf("%s: answered %d, want %d", path, got, want)
		}
	}
}

// What the Denied handler returns goes the way of any handler's error, and what the
// error handler answers has the limiter's headers.
func TestDeniedMayReturnAnError(t *testing.T) {
	failed := errors.New("no more")
	var got error
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		got = err
		c.NoContent(http.StatusTooManyRequests)
	}
	e.Use(echolimit.Middleware(limittest.Deny(time.Minute).Limiter(),
		echolimit.Denied(func(echo.Context, ratelimit.Decision) error { return failed })))
	e.GET("/", hello)

	limittest.AssertDenied(t, get(e, "/"), time.Minute)
	if got != failed {
		t.Errorf("the error handler was given %v", got)
	}
}

// The error is echo's usual, so that middlewares further out see what it means.
func TestUseErrorHandlerReturnsAnHTTPError(t *testing.T) {
	var got error
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			got = next(c)
			return got
		}
	}, echolimit.Middleware(limittest.Deny(time.Minute).Limiter(), echolimit.UseErrorHandler()))
	e.GET("/", hello)

	limittest.AssertDenied(t, get(e, "/"), time.Minute)
	if e, ok := errors.AsType[*echo.HTTPError](got); !ok || e.Code != http.StatusTooManyRequests {
		t.Errorf("got %v", got)
	}
}

func TestPanicKeepsItsStack(t *testing.T) {
	adaptertest.PassesPanic(t, func(explode func()) {
		e := echo.New()
		e.Use(echolimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone))
		e.GET("/", func(echo.Context) error { explode(); return nil })
		get(e, "/")
	})
}
