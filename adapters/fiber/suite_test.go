package fiberlimit_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/proxy"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestAdapter(t *testing.T) {
	for name, b := range map[string]builder{
		"as fiber comes": {},
		"set otherwise": {mount: true, config: fiber.Config{
			Immutable: true, UnescapePath: true, CaseSensitive: true, StrictRouting: true, DisableHeaderNormalizing: true,
			EnableTrustedProxyCheck: true, TrustedProxies: []string{"127.0.0.1"}, ProxyHeader: fiber.HeaderXForwardedFor,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, adaptertest.Adapter{
				Name: "fiber", Serve: b.serve, Pattern: pattern, Errors: true,
				Cannot: map[adaptertest.Capability]string{
					adaptertest.EarlyHints: "fasthttp writes one response, when the handler has returned",
					adaptertest.HangUp:     "fasthttp does not watch the connection while a handler runs",
					adaptertest.HTTP2:      "fasthttp speaks HTTP/1 only",
				},
			})
		})
	}
}

// builder builds apps of one configuration, with groups or with mounted apps.
type builder struct {
	config fiber.Config
	mount  bool
}

func (b builder) serve(tb testing.TB, app adaptertest.App, l net.Listener) {
	b.config.DisableStartupMessage = true
	if app.Errors != "" {
		b.config.ErrorHandler = func(c *fiber.Ctx, err error) error {
			status := fiber.StatusInternalServerError
			if e, ok := errors.AsType[*fiber.Error](err); ok {
				status = e.Code
			}
			return c.Status(status).SendString(app.Errors)
		}
	}
	f := fiber.New(b.config)
	if app.Recover {
		f.Use(recover.New())
	}
	if app.Prepare {
		f.Use(func(c *fiber.Ctx) error { adaptertest.Prepare(c.Set); return c.Next() })
	}
	b.fill(f, adaptertest.Group{Use: app.Use, Groups: app.Groups, Routes: app.Routes})
	done := make(chan error, 1)
	go func() { done <- f.Listener(l) }()
	tb.Cleanup(func() {
		if err := f.ShutdownWithTimeout(10 * time.Second); err != nil {
			tb.Errorf("shutdown: %v", err)
		}
		l.Close() // which Shutdown does not where nothing was served yet
		if err := <-done; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
}

func (b builder) fill(r fiber.Router, g adaptertest.Group) {
	for _, m := range g.Use {
		r.Use(middleware(m))
	}
	for _, route := range g.Routes {
		method := route.Method
		if method == "" {
			method = http.MethodGet
		}
		var handlers []fiber.Handler
		for _, m := range route.Use {
			handlers = append(handlers, middleware(m))
		}
		r.Add(method, pattern(route.Pattern), append(handlers, handler(route))...)
	}
	for _, inner := range g.Groups {
		if b.mount {
			sub := fiber.New(b.config)
			r.Mount(inner.Prefix, sub)
			b.fill(sub, inner)
		} else {
			b.fill(r.Group(inner.Prefix), inner)
		}
	}
}

var braced = regexp.MustCompile(`{(\w+)}`)

// pattern writes "/users/{id}" as "/users/:id".
func pattern(p string) string { return braced.ReplaceAllString(p, ":$1") }

func middleware(m adaptertest.Middleware) fiber.Handler {
	var opts []fiberlimit.Option
	if m.SkipPath != "" {
		opts = append(opts, fiberlimit.Skip(func(c *fiber.Ctx) bool { return c.Path() == m.SkipPath }))
	}
	if m.DeniedText != "" {
		opts = append(opts, fiberlimit.Denied(func(c *fiber.Ctx, d ratelimit.Decision) error {
			return c.SendString(m.DeniedText + " " + d.Policy)
		}))
	}
	if m.HandErrors {
		opts = append(opts, fiberlimit.UseErrorHandler())
	}
	if m.Limiter == nil {
		return fiberlimit.Limit(m.Limit, m.Key, opts...)
	}
	return fiberlimit.Middleware(m.Limiter, opts...)
}

func handler(route adaptertest.Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if route.Enter != nil {
			route.Enter()
		}
		switch route.Handler {
		case adaptertest.ErrorHandler:
			return errors.New("broken")
		case adaptertest.CodedHandler:
			return fiber.NewError(route.Status)
		case adaptertest.StatusHandler:
			if route.Status != 0 {
				c.Status(route.Status)
			}
			return nil
		case adaptertest.PanicHandler:
			panic("the handler panics")
		case adaptertest.StreamHandler:
			return stream(c, route.Pause)
		case adaptertest.HijackHandler:
			return hijack(c)
		case adaptertest.ProxyHandler:
			return forward(c, route.Upstream)
		case adaptertest.CheckHandler:
			if route.Prepare {
				adaptertest.Prepare(c.Set)
			}
			d, err := route.Account.Allow(c.UserContext(), c.Get("X-Account"), 1)
			if err != nil {
				return err
			}
			if !d.Allowed() {
				return fiberlimit.Deny(c, d)
			}
		}
		return c.SendString("ok")
	}
}

func stream(c *fiber.Ctx, pause func()) error {
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		w.WriteString("one\n")
		w.Flush()
		pause()
		w.WriteString("two\n")
	})
	return nil
}

func hijack(c *fiber.Ctx) error {
	c.Context().HijackSetNoResponse(true)
	c.Context().Hijack(func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
	})
	return nil
}

// forward has fiber's proxy put the upstream's response in place of the app's,
// headers and all.
func forward(c *fiber.Ctx, upstream string) error { return proxy.Do(c, upstream+c.OriginalURL()) }
