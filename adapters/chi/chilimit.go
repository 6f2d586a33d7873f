// Package chilimit holds rate limits in front of chi v5 routers.
//
// One line limits a whole app by client address, in memory:
//
//	r.Use(chilimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))
//
// With a limiter of your own, a route has a limit of its own:
//
//	r.Use(chilimit.Middleware(limits))
//	r.With(chilimit.Middleware(limits.With(login))).Post("/login", h)
//
// Use it above chi's middleware.RealIP, which lets any client name its own address.
package chilimit

import (
	"net/http"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// Option is an extra of [Limit] and [Middleware].
type Option = httplimit.Option

// Skip lets the requests that skip reports pass unseen: see [httplimit.Skip].
func Skip(skip func(*http.Request) bool) Option { return httplimit.Skip(skip) }

// Denied makes handler answer the requests that are over a limit; it must write
// the status: see [httplimit.Denied].
func Denied(handler func(http.ResponseWriter, *http.Request, ratelimit.Decision)) Option {
	return httplimit.Denied(handler)
}

// Limit returns a middleware with one limit, counted in memory. It panics if the
// limit is invalid or the key nil: see [httplimit.Limit].
func Limit(limit ratelimit.Limit, key ratelimit.KeyFunc, opts ...Option) func(http.Handler) http.Handler {
	return httplimit.Limit(limit, key, withView(opts)...)
}

// Middleware returns a middleware that holds the limiter's policies. Route and
// path values are known to them where chi has routed: in With, or a sub-router's
// Use, which sees the part of the pattern up to it ("/api/*").
func Middleware(limiter *ratelimit.Limiter, opts ...Option) func(http.Handler) http.Handler {
	return httplimit.Middleware(limiter, withView(opts)...)
}

// Deny answers the request as the middleware would have, for a check made inside
// a handler: see [httplimit.Deny].
func Deny(w http.ResponseWriter, r *http.Request, d ratelimit.Decision) {
	httplimit.Deny(w, r, d)
}

func withView(opts []Option) []Option {
	return append([]Option{httplimit.WithView(newView)}, opts...)
}
