// Package echolimit holds rate limits in front of echo v4 apps.
//
// One line limits a whole app by client address, in memory:
//
//	e.Use(echolimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))
//
// With a limiter of your own, a route has a limit of its own:
//
//	e.Use(echolimit.Middleware(limits))
//	e.POST("/login", h, echolimit.Middleware(limits.With(login)))
//
// Client addresses are keyfuncs' to find: echo's RealIP is not asked.
package echolimit

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// Option is an extra of [Limit] and [Middleware]. One that is given nil changes
// nothing, as a nil field of a [ratelimit.Policy] does.
type Option func(*middleware)

// Skip lets the requests that skip reports pass unseen: not counted, and without
// headers. It suits probes; for a single policy there is Policy.If.
func Skip(skip func(echo.Context) bool) Option {
	return func(m *middleware) {
		if skip != nil {
			m.skip = skip
		}
	}
}

// Denied makes handler answer the requests that are over a limit, in place of the
// limiter. The headers are set before it is called; the status is the handler's, as
// in c.String(http.StatusTooManyRequests, text). An error that it returns goes up
// the chain, as any handler's. A failed store (503) and a failed key function (500)
// are answered by the limiter all the same.
func Denied(handler func(echo.Context, ratelimit.Decision) error) Option {
	return func(m *middleware) {
		if handler != nil {
			m.denied = handler
		}
	}
}

// UseErrorHandler hands the limiter's own answers to the app's HTTPErrorHandler, so
// that they look like the app's other errors: the middleware returns an
// *echo.HTTPError with the status 429, 503 or 500. The headers are set before.
// Denied comes before it.
func UseErrorHandler() Option {
	return func(m *middleware) { m.refuse = handOver }
}

// Limit returns a middleware with one limit, counted in memory under the policy
// name "limit". It panics if the limit is invalid or the key nil. Each call counts
// apart from every other, so call it once for all the routes that share a limit.
func Limit(limit ratelimit.Limit, key ratelimit.KeyFunc, opts ...Option) echo.MiddlewareFunc {
	policy := ratelimit.Policy{Name: "limit", Limit: limit, Key: key}
	return Middleware(ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{policy}}), opts...)
}

// Middleware returns a middleware that holds the limiter's policies. Route and path
// values are known to it in Use, in groups and on routes, since echo routes first;
// not in Pre, which comes before that.
func Middleware(limiter *ratelimit.Limiter, opts ...Option) echo.MiddlewareFunc {
	if limiter == nil {
		panic("echolimit: Middleware needs a Limiter")
	}
	m := &middleware{limiter: limiter, refuse: answer}
	for _, opt := range opts {
		opt(m)
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return m.handle(c, next) }
	}
}

// Deny answers the request as the middleware would have, for a check made inside
// a handler: on the account named in the body, say, with [ratelimit.Limiter.Allow].
// The handler must not have written anything yet, and returns what it returns. Of the
// headers that it has set, Content-Length, ETag and Last-Modified are dropped; where
// it has set Content-Encoding, it is to delete that.
func Deny(c echo.Context, d ratelimit.Decision) error {
	v := &view{c: c}
	t := ratelimit.Refuse(v, d)
	defer t.End(t.Status(), nil)
	t.Merge(c.Response().Header().Get)
	return answer(v, t)
}

type middleware struct {
	limiter *ratelimit.Limiter
	skip    func(echo.Context) bool
	denied  func(echo.Context, ratelimit.Decision) error
	refuse  func(*view, *ratelimit.Ticket) error
}

func (m *middleware) handle(c echo.Context, next echo.HandlerFunc) (err error) {
	if m.skip != nil && m.skip(c) {
		return next(c)
	}

	v := &view{c: c}
	t := m.limiter.Begin(v)
	status := http.StatusInternalServerError // for a panic, which leaves it at that
	defer func() { t.End(status, err) }()
	t.Wait(c.Request().Context()) // where that fails, the status is 503
	response := c.Response()
	t.Merge(response.Header().Get)
	// It stays there, since what is put around it meanwhile may stay as well: echo
	// begins the next request with another.
	var recorder *std.Recorder
	response.Writer, recorder = std.Record(response.Writer, t)
	switch {
	case t.Status() == 0:
		v.setHeaders(t)
		err = next(c)
	case t.Outcome() == ratelimit.Denied && m.denied != nil:
		v.setHeaders(t)
		err = m.denied(c, t.Decision())
	default:
		err = m.refuse(v, t)
	}
	status = statusOf(response, recorder, err)
	return err
}

// answer writes the ticket's own answer.
func answer(v *view, t *ratelimit.Ticket) error {
	return std.Answer(v.c.Response(), t, &v.block)
}

// handOver leaves the answer to the app's error handler.
func handOver(v *view, t *ratelimit.Ticket) error {
	v.setHeaders(t)
	return echo.NewHTTPError(t.Status())
}

func (v *view) setHeaders(t *ratelimit.Ticket) {
	std.SetHeaders(v.c.Response().Header(), t, "", &v.block)
}

// statusOf returns the status of a handler's answer. With an error, and nothing
// written, it is not in the response yet: the app's error handler runs after all
// middlewares, and most often answers as echo's own does.
func statusOf(response *echo.Response, recorder *std.Recorder, err error) int {
	if status, ok := recorder.Answered(); ok {
		return status
	}
	if err == nil || response.Committed {
		return response.Status
	}
	e, ok := err.(*echo.HTTPError)
	if !ok {
		return http.StatusInternalServerError
	}
	if inner, ok := e.Internal.(*echo.HTTPError); ok {
		e = inner
	}
	return e.Code
}
