package echolimit_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Adapter{Name: "echo", Serve: serve, Pattern: pattern, Errors: true})
}

// pattern writes "/users/{id}" as "/users/:id".
func pattern(s string) string { return strings.NewReplacer("{", ":", "}", "").Replace(s) }

func serve(tb testing.TB, app adaptertest.App, l net.Listener) {
	adaptertest.ServeHTTP(tb, build(app), l)
}

func build(app adaptertest.App) http.Handler {
	e := echo.New()
	if app.Errors != "" {
		e.HTTPErrorHandler = func(err error, c echo.Context) {
			status := http.StatusInternalServerError
			if e, ok := errors.AsType[*echo.HTTPError](err); ok {
				status = e.Code
			}
			c.String(status, app.Errors)
		}
	}
	if app.Recover {
		e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{DisablePrintStack: true}))
	}
	if app.Prepare {
		e.Use(echo.WrapMiddleware(adaptertest.Prepared))
	}
	e.Use(middlewares(app.Use)...)
	handle(e, app.Routes)
	groups(e, app.Groups)
	return e
}

// router is an app or a group.
type router interface {
	Add(method, path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route
	Group(prefix string, m ...echo.MiddlewareFunc) *echo.Group
}

func groups(r router, all []adaptertest.Group) {
	for _, g := range all {
		sub := r.Group(g.Prefix, middlewares(g.Use)...)
		handle(sub, g.Routes)
		groups(sub, g.Groups)
	}
}

func handle(r router, routes []adaptertest.Route) {
	for _, route := range routes {
		method := route.Method
		if method == "" {
			method = http.MethodGet
		}
		r.Add(method, pattern(route.Pattern), handler(route), middlewares(route.Use)...)
	}
}

// handler returns the route's handler: echo's own where echo has another way.
func handler(route adaptertest.Route) echo.HandlerFunc {
	switch route.Handler {
	case adaptertest.ErrorHandler:
		return func(echo.Context) error { return errors.New("broken") }
	case adaptertest.CodedHandler:
		return func(echo.Context) error { return echo.NewHTTPError(route.Status) }
	case adaptertest.HintsHandler:
		return func(c echo.Context) error { // echo's Response takes the first status for the last
			c.Response().Header().Set("Link", "</style.css>; rel=preload")
			c.Response().Writer.WriteHeader(http.StatusEarlyHints)
			return c.String(http.StatusOK, "ok")
		}
	case adaptertest.CheckHandler:
		return func(c echo.Context) error {
			if route.Prepare {
				adaptertest.Prepare(c.Response().Header().Set)
			}
			d, err := route.Account.Allow(c.Request().Context(), c.Request().Header.Get("X-Account"), 1)
			switch {
			case err != nil:
				return err
			case !d.Allowed():
				return echolimit.Deny(c, d)
			default:
				return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
			}
		}
	default:
		return echo.WrapHandler(adaptertest.Handler(route, nil))
	}
}

func middlewares(use []adaptertest.Middleware) []echo.MiddlewareFunc {
	var all []echo.MiddlewareFunc
	for _, m := range use {
		all = append(all, limited(m))
	}
	return all
}

func limited(m adaptertest.Middleware) echo.MiddlewareFunc {
	var opts []echolimit.Option
	if m.SkipPath != "" {
		opts = append(opts, echolimit.Skip(func(c echo.Context) bool { return c.Request().URL.Path == m.SkipPath }))
	}
	if m.DeniedText != "" {
		opts = append(opts, echolimit.Denied(func(c echo.Context, d ratelimit.Decision) error {
			return c.Blob(http.StatusTooManyRequests, "text/plain; charset=utf-8", []byte(m.DeniedText+" "+d.Policy))
		}))
	}
	if m.HandErrors {
		opts = append(opts, echolimit.UseErrorHandler())
	}
	if m.Limiter == nil {
		return echolimit.Limit(m.Limit, m.Key, opts...)
	}
	return echolimit.Middleware(m.Limiter, opts...)
}
