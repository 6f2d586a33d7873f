// Package httplimit holds rate limits in front of net/http handlers, and of any
// router whose middlewares are func(http.Handler) http.Handler.
//
// One line limits a whole app by client address, in memory:
//
//	limit := httplimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP())
//	http.ListenAndServe(":8080", limit(mux))
//
// [Middleware] takes a limiter of your own, for several policies, another store,
// or other headers; [ratelimit.Limiter.With] makes a stricter one for a route.
//
// The headers are set before the handler runs. A handler that adds another server's
// to them, as [httputil.ReverseProxy] does, is to leave out what that server says of
// its own limits: they are for the proxy, and clients would be told of two.
//
// A client that hangs up while its request waits, as [ratelimit.Delay] has it, ends
// the wait. net/http notices only once the request's body has been read: where there
// is one that nobody has read yet, as of a POST, the request waits its time out. The
// same holds for chi, gin and echo, which are built on net/http.
//
// [httputil.ReverseProxy]: https://pkg.go.dev/net/http/httputil#ReverseProxy
package httplimit

import (
	"net/http"

	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// Option is an extra of [Limit] and [Middleware]. One that is given nil changes
// nothing, as a nil field of a [ratelimit.Policy] does.
type Option func(*middleware)

// Skip lets the requests that skip reports pass unseen: not counted, and without
// headers. It suits probes; for a single policy there is Policy.If.
func Skip(skip func(*http.Request) bool) Option {
	return func(m *middleware) {
		if skip != nil {
			m.skip = skip
		}
	}
}

// Denied makes handler answer the requests that are over a limit, in place of the
// limiter. The headers are set before it is called; the status is not, so it must
// call WriteHeader, or net/http answers 200. A failed store (503) and a failed key
// function (500) are answered by the limiter all the same.
func Denied(handler func(http.ResponseWriter, *http.Request, ratelimit.Decision)) Option {
	return func(m *middleware) {
		if handler != nil {
			m.denied = handler
		}
	}
}

// WithView sets how the limiter sees a request, for routers that keep the route
// and the path values elsewhere than net/http does. Build it on [View].
func WithView(view func(*http.Request) ratelimit.View) Option {
	return func(m *middleware) {
		if view != nil {
			m.view = view
		}
	}
}

// Limit returns a middleware with one limit, counted in memory under the policy
// name "limit". It panics if the limit is invalid or the key nil. Each call counts
// apart from every other, so call it once for all the handlers that share a limit.
func Limit(limit ratelimit.Limit, key ratelimit.KeyFunc, opts ...Option) func(http.Handler) http.Handler {
	policy := ratelimit.Policy{Name: "limit", Limit: limit, Key: key}
	return Middleware(ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{policy}}), opts...)
}

// Middleware returns a middleware that holds the limiter's policies.
func Middleware(limiter *ratelimit.Limiter, opts ...Option) func(http.Handler) http.Handler {
	if limiter == nil {
		panic("httplimit: Middleware needs a Limiter")
	}
	m := &middleware{limiter: limiter, view: View}
	for _, opt := range opts {
		opt(m)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
	}
}

// Deny answers the request as the middleware would have, for a check made inside
// a handler: on the account named in the body, say, with [ratelimit.Limiter.Allow].
// The handler must not have written anything yet, and writes nothing after it. Of the
// headers that it has set, Content-Length, ETag and Last-Modified are dropped; where
// it has set Content-Encoding, it is to delete that.
func Deny(w http.ResponseWriter, r *http.Request, d ratelimit.Decision) {
	t := ratelimit.Refuse(View(r), d)
	defer t.End(t.Status(), nil)
	t.Merge(w.Header().Get)
	std.Answer(w, t, new(std.Block))
}

type middleware struct {
	limiter *ratelimit.Limiter
	skip    func(*http.Request) bool
	denied  func(http.ResponseWriter, *http.Request, ratelimit.Decision)
	view    func(*http.Request) ratelimit.View
}

func (m *middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if m.skip != nil && m.skip(r) {
		next.ServeHTTP(w, r)
		return
	}

	t := m.limiter.Begin(m.view(r))
	status := http.StatusInternalServerError // for a panic, which leaves it at that
	defer func() { t.End(status, nil) }()
	t.Wait(r.Context()) // where that fails, the status is 503
	t.Merge(w.Header().Get)
	switch {
	case t.Status() == 0:
		std.SetHeaders(w.Header(), t, "", new(std.Block))
		w, recorder := std.Record(w, t)
		next.ServeHTTP(w, r)
		status = recorder.Status()
	case t.Outcome() == ratelimit.Denied && m.denied != nil:
		std.SetHeaders(w.Header(), t, "", new(std.Block))
		w, recorder := std.Record(w, t)
		m.denied(w, r, t.Decision())
		status = recorder.Status()
	default:
		std.Answer(w, t, new(std.Block))
		status = t.Status()
	}
}
