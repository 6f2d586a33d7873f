// Package fiberlimit holds rate limits in front of fiber v2 apps.
//
// One line limits a whole app by client address, in memory:
//
//	app.Use(fiberlimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))
//
// With a limiter of your own, a route has a limit of its own:
//
//	app.Use(fiberlimit.Middleware(limits))
//	app.Post("/login", fiberlimit.Middleware(limits.With(login)), h)
//
// Client addresses are keyfuncs' to find: fiber's ProxyHeader and TrustedProxies
// change nothing here. With Prefork each process counts by itself, unless the
// limiter's store is one that they share.
package fiberlimit

import (
	"errors"

	"github.com/gofiber/fiber/v2"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// Option is an extra of [Limit] and [Middleware]. One that is given nil changes
// nothing, as a nil field of a [ratelimit.Policy] does.
type Option func(*middleware)

// Skip lets the requests that skip reports pass unseen: not counted, and without
// headers. It suits probes; for a single policy there is Policy.If.
func Skip(skip func(*fiber.Ctx) bool) Option {
	return func(m *middleware) {
		if skip != nil {
			m.skip = skip
		}
	}
}

// Denied makes handler answer the requests that are over a limit, in place of the
// limiter. The headers and the status 429 are set before it is called; an error
// that it returns goes up the chain, as any handler's. A failed store (503) and a
// failed key function (500) are answered by the limiter all the same. Headers that
// it wipes or replaces are set again.
func Denied(handler func(*fiber.Ctx, ratelimit.Decision) error) Option {
	return func(m *middleware) {
		if handler != nil {
			m.denied = handler
		}
	}
}

// UseErrorHandler hands the limiter's own answers to the app's ErrorHandler, as a
// *fiber.Error with the status 429, 503 or 500, so that they look like the app's
// other errors. It is called at once and not after the chain: what it wipes or
// replaces of the limiter's headers is set again, and middlewares further out see the
// answer, not an error. Denied comes before it.
func UseErrorHandler() Option {
	return func(m *middleware) { m.refuse = handOver }
}

// Limit returns a middleware with one limit, counted in memory under the policy
// name "limit". It panics if the limit is invalid or the key nil. Each call counts
// apart from every other, so call it once for all the routes that share a limit.
func Limit(limit ratelimit.Limit, key ratelimit.KeyFunc, opts ...Option) fiber.Handler {
	policy := ratelimit.Policy{Name: "limit", Limit: limit, Key: key}
	return Middleware(ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{policy}}), opts...)
}

// Middleware returns a middleware that holds the limiter's policies. Route and
// path values are known to it where it stands on a route, as in app.Get(path,
// middleware, handler): fiber runs what stands in Use before it looks for the
// route. In Use, path values are those of Use's own prefix. Where an app is mounted
// under a prefix with parameters, fiber runs nothing that it Uses: limit it from
// the app around it.
//
// A request that is told to wait waits until the deadline of its UserContext at
// most. That the client hung up, fasthttp does not tell, and Shutdown lets those
// that wait have their turn: keep a Delay short.
//
// The headers are set before the handler runs. Of what it leaves of them the stricter
// is told: one that resets the response, or takes over another server's as fiber's
// proxy does, changes that only to something stricter, or to a denial (429).
//
// A ticket ends when the handler returns. What fiber runs later, a body stream
// writer or a hijacked connection, is not part of it.
func Middleware(limiter *ratelimit.Limiter, opts ...Option) fiber.Handler {
	if limiter == nil {
		panic("fiberlimit: Middleware needs a Limiter")
	}
	m := &middleware{limiter: limiter, refuse: answer}
	for _, opt := range opts {
		opt(m)
	}
	return m.handle
}

// Deny answers the request as the middleware would have, for a check made inside
// a handler: on the account named in the body, say, with [ratelimit.Limiter.Allow].
// The handler returns what it returns. What it has set up of another answer, the body
// and the headers that describe it, is dropped.
func Deny(c *fiber.Ctx, d ratelimit.Decision) error {
	t := ratelimit.Refuse(newView(c), d)
	defer t.End(t.Status(), nil)
	merge(c, t)
	closeUnread(c)
	return answer(c, t)
}

type middleware struct {
	limiter *ratelimit.Limiter
	skip    func(*fiber.Ctx) bool
	denied  func(*fiber.Ctx, ratelimit.Decision) error
	refuse  func(*fiber.Ctx, *ratelimit.Ticket) error
}

func (m *middleware) handle(c *fiber.Ctx) (err error) {
	if m.skip != nil && m.skip(c) {
		return c.Next()
	}

	t := m.limiter.Begin(newView(c))
	status := fiber.StatusInternalServerError // for a panic, which leaves it at that
	defer func() { t.End(status, err) }()
	t.Wait(c.UserContext()) // where that fails, the status is 503
	merge(c, t)
	switch {
	case t.Status() == 0:
		setHeaders(c, t)
		err = c.Next()
		restoreHeaders(c, t, statusOf(c, err))
	case t.Outcome() == ratelimit.Denied && m.denied != nil:
		setHeaders(c, t)
		c.Status(t.Status())
		err = m.denied(c, t.Decision())
		restoreHeaders(c, t, t.Status())
	default:
		err = m.refuse(c, t)
	}
	if t.Status() != 0 {
		closeUnread(c)
	}
	status = statusOf(c, err)
	return err
}

// statusOf returns the status of a handler's answer, 0 where it takes the connection
// over. With an error it is not in the response yet: the app's ErrorHandler runs
// after all middlewares, and most often sets this one.
func statusOf(c *fiber.Ctx, err error) int {
	if c.Context().Hijacked() {
		return 0
	}
	if err == nil {
		return c.Response().StatusCode()
	}
	if e, ok := errors.AsType[*fiber.Error](err); ok {
		return e.Code
	}
	return fiber.StatusInternalServerError
}

// answer writes the ticket's own answer, and drops what the response says of another
// body. Its Content-Encoding as well: what compresses here does so afterwards, not, as
// net/http's middlewares do, while the answer is written.
func answer(c *fiber.Ctx, t *ratelimit.Ticket) error {
	contentType, body := t.Body()
	response := c.Response()
	for _, name := range [...]string{
		fiber.HeaderContentLength, fiber.HeaderContentEncoding, fiber.HeaderETag, fiber.HeaderLastModified,
	} {
		response.Header.Del(name)
	}
	setHeaders(c, t)
	response.SetStatusCode(t.Status())
	response.Header.SetContentType(contentType)
	response.SetBody(body)
	return nil
}

// handOver has the app's ErrorHandler answer.
func handOver(c *fiber.Ctx, t *ratelimit.Ticket) error {
	setHeaders(c, t)
	err := c.App().ErrorHandler(c, fiber.NewError(t.Status()))
	restoreHeaders(c, t, t.Status())
	return err
}

// closeUnread closes the connection after the answer where the body is a stream
// (Config.StreamRequestBody) that nobody read: fasthttp would take what is left of
// it for the client's next request.
func closeUnread(c *fiber.Ctx) {
	if c.Request().IsBodyStream() {
		c.Response().SetConnectionClose()
	}
}
