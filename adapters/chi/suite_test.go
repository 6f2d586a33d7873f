package chilimit_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	chilimit "github.com/weirhq/ratelimit/adapters/chi"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Adapter{
		Name: "chi", Serve: serve,
		Cannot: map[adaptertest.Capability]string{adaptertest.HandErrors: "handlers return no error"},
	})
}

func serve(tb testing.TB, app adaptertest.App, l net.Listener) {
	adaptertest.ServeHTTP(tb, build(app), l)
}

func build(app adaptertest.App) http.Handler {
	r := chi.NewRouter()
	if app.Recover {
		r.Use(adaptertest.Recover) // chi's own prints the stack
	}
	if app.Prepare {
		r.Use(adaptertest.Prepared)
	}
	r.Use(middlewares(app.Use)...)
	handle(r, app.Routes)
	for _, g := range app.Groups {
		r.Route(g.Prefix, func(r chi.Router) { fill(r, g) })
	}
	return r
}

func fill(r chi.Router, g adaptertest.Group) {
	r.Use(middlewares(g.Use)...)
	handle(r, g.Routes)
	for _, inner := range g.Groups {
		sub := chi.NewRouter()
		fill(sub, inner)
		r.Mount(inner.Prefix, sub)
	}
}

func handle(r chi.Router, routes []adaptertest.Route) {
	for _, route := range routes {
		method := route.Method
		if method == "" {
			method = http.MethodGet
		}
		r.With(middlewares(route.Use)...).Method(method, route.Pattern, adaptertest.Handler(route, chilimit.Deny))
	}
}

func middlewares(use []adaptertest.Middleware) []func(http.Handler) http.Handler {
	var all []func(http.Handler) http.Handler
	for _, m := range use {
		all = append(all, middleware(m))
	}
	return all
}

func middleware(m adaptertest.Middleware) func(http.Handler) http.Handler {
	var opts []chilimit.Option
	if m.SkipPath != "" {
		opts = append(opts, chilimit.Skip(func(r *http.Request) bool { return r.URL.Path == m.SkipPath }))
	}
	if m.DeniedText != "" {
		opts = append(opts, chilimit.Denied(func(w http.ResponseWriter, _ *http.Request, d ratelimit.Decision) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, "%s %s", m.DeniedText, d.Policy)
		}))
	}
	if m.Limiter == nil {
		return chilimit.Limit(m.Limit, m.Key, opts...)
	}
	return chilimit.Middleware(m.Limiter, opts...)
}
