// Package ginlimit holds rate limits in front of gin routers.
//
// One line limits a whole app by client address, in memory:
//
//	r.Use(ginlimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))
//
// With a limiter of your own, a route has a limit of its own:
//
//	r.Use(ginlimit.Middleware(limits))
//	r.POST("/login", ginlimit.Middleware(limits.With(login)), h)
//
// Client addresses are keyfuncs' to find: gin's ClientIP, which believes any
// client's headers unless told otherwise, is not asked. What gin answers before any
// middleware runs, it answers without a limit: the redirects of
// RedirectTrailingSlash and RedirectFixedPath.
package ginlimit

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// Option is an extra of [Limit] and [Middleware]. One that is given nil changes
// nothing, as a nil field of a [ratelimit.Policy] does.
type Option func(*middleware)

// Skip lets the requests that skip reports pass unseen: not counted, and without
// headers. It suits probes; for a single policy there is Policy.If.
func Skip(skip func(*gin.Context) bool) Option {
	return func(m *middleware) {
		if skip != nil {
			m.skip = skip
		}
	}
}

// Denied makes handler answer the requests that are over a limit, in place of the
// limiter. The headers and the status 429 are set, and the chain is aborted, before
// it is called. A failed store (503) and a failed key function (500) are answered by
// the limiter all the same.
func Denied(handler func(*gin.Context, ratelimit.Decision)) Option {
	return func(m *middleware) {
		if handler != nil {
			m.denied = handler
		}
	}
}

// Limit returns a middleware with one limit, counted in memory under the policy
// name "limit". It panics if the limit is invalid or the key nil. Each call counts
// apart from every other, so call it once for all the routes that share a limit.
func Limit(limit ratelimit.Limit, key ratelimit.KeyFunc, opts ...Option) gin.HandlerFunc {
	policy := ratelimit.Policy{Name: "limit", Limit: limit, Key: key}
	return Middleware(ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{policy}}), opts...)
}

// Middleware returns a middleware that holds the limiter's policies. Route and path
// values are known to it wherever it stands, since gin routes first; a path that
// matches no route has none.
func Middleware(limiter *ratelimit.Limiter, opts ...Option) gin.HandlerFunc {
	if limiter == nil {
		panic("ginlimit: Middleware needs a Limiter")
	}
	m := &middleware{limiter: limiter}
	for _, opt := range opts {
		opt(m)
	}
	return m.handle
}

// Deny answers the request as the middleware would have and aborts the chain, for a
// check made inside a handler: on the account named in the body, say, with
// [ratelimit.Limiter.Allow]. The handler must not have written anything yet, and
// writes nothing after it. Of the headers that it has set, Content-Length, ETag and
// Last-Modified are dropped; where it has set Content-Encoding, it is to delete that.
func Deny(c *gin.Context, d ratelimit.Decision) {
	t := ratelimit.Refuse(newView(c), d)
	defer t.End(t.Status(), nil)
	t.Merge(c.Writer.Header().Get)
	c.Abort()
	std.Answer(c.Writer, t, new(std.Block))
}

type middleware struct {
	limiter *ratelimit.Limiter
	skip    func(*gin.Context) bool
	denied  func(*gin.Context, ratelimit.Decision)
}

func (m *middleware) handle(c *gin.Context) {
	if m.skip != nil && m.skip(c) {
		return // and gin goes on
	}

	t := m.limiter.Begin(newView(c))
	status, err := http.StatusInternalServerError, error(nil) // for a panic, which leaves them at that
	defer func() { t.End(status, err) }()
	t.Wait(c.Request.Context()) // where that fails, the status is 503
	t.Merge(c.Writer.Header().Get)
	if t.WantsStatus() {
		c.Writer = &watcher{ResponseWriter: c.Writer}
	}
	before := len(c.Errors)
	switch {
	case t.Status() == 0:
		std.SetHeaders(c.Writer.Header(), t, "", new(std.Block))
		c.Next()
		err = lastError(c, before)
	case t.Outcome() == ratelimit.Denied && m.denied != nil:
		std.SetHeaders(c.Writer.Header(), t, "", new(std.Block))
		c.Abort()
		c.Status(t.Status()) // not AbortWithStatus, which writes the header
		m.denied(c, t.Decision())
		err = lastError(c, before)
	default:
		c.Abort()
		std.Answer(c.Writer, t, new(std.Block))
	}
	status = c.Writer.Status()
}

// lastError returns the last error that the handlers after this one gave to gin.
func lastError(c *gin.Context, before int) error {
	if len(c.Errors) > before {
		return c.Errors.Last().Err
	}
	return nil
}
