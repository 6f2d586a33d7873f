package ginlimit_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode) // or it prints every route
	m.Run()
}

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Adapter{
		Name: "gin", Serve: serve, Pattern: pattern, Errors: true,
		Cannot: map[adaptertest.Capability]string{
			adaptertest.HandErrors:   "it has no error handler",
			adaptertest.CountSlashes: "it redirects to the path without it before any middleware runs",
		},
	})
}

// pattern writes "/users/{id}" as "/users/:id".
func pattern(s string) string { return strings.NewReplacer("{", ":", "}", "").Replace(s) }

func serve(tb testing.TB, app adaptertest.App, l net.Listener) {
	adaptertest.ServeHTTP(tb, build(app), l)
}

func build(app adaptertest.App) http.Handler {
	r := gin.New()
	r.HandleMethodNotAllowed = true
	if app.Recover {
		r.Use(gin.RecoveryWithWriter(io.Discard))
	}
	if app.Prepare {
		r.Use(func(c *gin.Context) { adaptertest.Prepare(c.Header) })
	}
	r.Use(middlewares(app.Use)...) // the engine's Use, which 404 and 405 pass too
	fill(&r.RouterGroup, adaptertest.Group{Groups: app.Groups, Routes: app.Routes})
	return r
}

func fill(r *gin.RouterGroup, g adaptertest.Group) {
	r.Use(middlewares(g.Use)...)
	for _, route := range g.Routes {
		method := route.Method
		if method == "" {
			method = http.MethodGet
		}
		r.Handle(method, pattern(route.Pattern), append(middlewares(route.Use), handler(route))...)
	}
	for _, inner := range g.Groups {
		fill(r.Group(inner.Prefix), inner)
	}
}

// handler returns the route's handler: gin's own where gin has another way.
func handler(route adaptertest.Route) gin.HandlerFunc {
	switch route.Handler {
	case adaptertest.ErrorHandler:
		return func(c *gin.Context) { c.AbortWithError(http.StatusInternalServerError, errors.New("broken")) }
	case adaptertest.CodedHandler:
		return func(c *gin.Context) { c.AbortWithError(route.Status, errors.New("coded")) }
	case adaptertest.HintsHandler:
		return func(c *gin.Context) { // gin's WriteHeader only notes the status
			c.Header("Link", "</style.css>; rel=preload")
			c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap().WriteHeader(http.StatusEarlyHints)
			c.String(http.StatusOK, "ok")
		}
	case adaptertest.CheckHandler:
		return func(c *gin.Context) {
			if route.Prepare {
				adaptertest.Prepare(c.Header)
			}
			d, err := route.Account.Allow(c, c.GetHeader("X-Account"), 1)
			switch {
			case err != nil:
				c.AbortWithError(http.StatusServiceUnavailable, err)
			case !d.Allowed():
				ginlimit.Deny(c, d)
			default:
				c.String(http.StatusOK, "ok")
			}
		}
	default:
		return gin.WrapH(adaptertest.Handler(route, nil))
	}
}

func middlewares(use []adaptertest.Middleware) []gin.HandlerFunc {
	var all []gin.HandlerFunc
	for _, m := range use {
		all = append(all, middleware(m))
	}
	return all
}

func middleware(m adaptertest.Middleware) gin.HandlerFunc {
	var opts []ginlimit.Option
	if m.SkipPath != "" {
		opts = append(opts, ginlimit.Skip(func(c *gin.Context) bool { return c.Request.URL.Path == m.SkipPath }))
	}
	if m.DeniedText != "" {
		opts = append(opts, ginlimit.Denied(func(c *gin.Context, d ratelimit.Decision) {
			c.String(http.StatusTooManyRequests, "%s %s", m.DeniedText, d.Policy)
		}))
	}
	if m.Limiter == nil {
		return ginlimit.Limit(m.Limit, m.Key, opts...)
	}
	return ginlimit.Middleware(m.Limiter, opts...)
}
