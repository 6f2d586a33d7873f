package httplimit_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Adapter{
		Name: "nethttp", Serve: serve,
		Cannot: map[adaptertest.Capability]string{adaptertest.HandErrors: "handlers return no error"},
	})
}

func serve(tb testing.TB, app adaptertest.App, l net.Listener) {
	adaptertest.ServeHTTP(tb, build(app), l)
}

func build(app adaptertest.App) http.Handler {
	mux := http.NewServeMux()
	handle(mux, "", app.Routes)
	mount(mux, "", app.Groups)
	h := wrap(app.Use, mux)
	if app.Prepare {
		h = adaptertest.Prepared(h)
	}
	if app.Recover {
		h = adaptertest.Recover(h)
	}
	return h
}

func mount(mux *http.ServeMux, prefix string, groups []adaptertest.Group) {
	for _, g := range groups {
		at, sub := prefix+g.Prefix, http.NewServeMux()
		handle(sub, at, g.Routes)
		mount(sub, at, g.Groups)
		mux.Handle(at+"/", wrap(g.Use, sub))
	}
}

func handle(mux *http.ServeMux, prefix string, routes []adaptertest.Route) {
	for _, r := range routes {
		pattern := prefix + r.Pattern
		if pattern == "/" {
			pattern = "/{$}" // or it would match every path
		}
		method := r.Method
		if method == "" {
			method = http.MethodGet
		}
		mux.Handle(method+" "+pattern, wrap(r.Use, adaptertest.Handler(r, httplimit.Deny)))
	}
}

func wrap(use []adaptertest.Middleware, h http.Handler) http.Handler {
	for _, m := range slices.Backward(use) {
		h = middleware(m)(h)
	}
	return h
}

func middleware(m adaptertest.Middleware) func(http.Handler) http.Handler {
	var opts []httplimit.Option
	if m.SkipPath != "" {
		opts = append(opts, httplimit.Skip(func(r *http.Request) bool { return r.URL.Path == m.SkipPath }))
	}
	if m.DeniedText != "" {
		opts = append(opts, httplimit.Denied(func(w http.ResponseWriter, _ *http.Request, d ratelimit.Decision) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, "%s %s", m.DeniedText, d.Policy)
		}))
	}
	if m.Limiter == nil {
		return httplimit.Limit(m.Limit, m.Key, opts...)
	}
	return httplimit.Middleware(m.Limiter, opts...)
}
