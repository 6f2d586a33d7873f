package fiberlimit_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/compress"
	"github.com/valyala/fasthttp"
	"github.com/weirhq/ratelimit/adapters/adaptertest"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// do has the app answer a request without a body.
func do(t *testing.T, app *fiber.App, method, target string) *http.Response {
	t.Helper()
	return send(t, app, httptest.NewRequest(method, target, nil))
}

func send(t *testing.T, app *fiber.App, req *http.Request) *http.Response {
	t.Helper()
	resp, err := app.Test(req, -1)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func ok(c *fiber.Ctx) error { return c.SendString("ok") }

func TestLimitCountsForAllRoutes(t *testing.T) {
	app := fiber.New()
	limit := fiberlimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	app.Get("/a", limit, ok)
	app.Get("/b", limit, ok)
	app.Get("/other", fiberlimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone), ok)

	limittest.AssertAllowed(t, do(t, app, "GET", "/a"))
	limittest.AssertAllowed(t, do(t, app, "GET", "/b"))
	limittest.AssertDenied(t, do(t, app, "GET", "/a"), 30*time.Minute)
	limittest.AssertAllowed(t, do(t, app, "GET", "/other"))
}

// fiber takes "/LOGIN/" for "/login", and answers HEAD with GET's handlers.
func TestPrefixesAndHEAD(t *testing.T) {
	app := fiber.New()
	app.Use("/login", fiberlimit.Limit(ratelimit.PerHour(3), keyfuncs.Everyone))
	app.Get("/login", ok)

	limittest.AssertAllowed(t, do(t, app, "GET", "/Login"))
	limittest.AssertAllowed(t, do(t, app, "HEAD", "/login"))
	limittest.AssertAllowed(t, do(t, app, "GET", "/LOGIN/?x"))
	for _, path := range []string{"/login", "/login/", "/logIN", "/login/deeper", "/login//"} {
		limittest.AssertDenied(t, do(t, app, "GET", path), 20*time.Minute)
	}
	resp := do(t, app, "HEAD", "/login")
	limittest.AssertDenied(t, resp, 20*time.Minute)
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) > 0 {
		t.Errorf("HEAD is answered with a body: %q, %v", body, err)
	}
}

func TestMistakesPanicAtStart(t *testing.T) {
	adaptertest.Panics(t, map[string]func(){
		"limit":   func() { fiberlimit.Limit(ratelimit.PerMinute(0), keyfuncs.Everyone) },
		"key":     func() { fiberlimit.Limit(ratelimit.PerMinute(1), nil) },
		"limiter": func() { fiberlimit.Middleware(nil) },
	})
}

// An option that is given nil changes nothing, whatever stood before.
func TestNilOptions(t *testing.T) {
	isProbe := func(c *fiber.Ctx) bool { return c.Path() == "/probe" }
	say := func(c *fiber.Ctx, _ ratelimit.Decision) error { return c.SendStatus(http.StatusTeapot) }
	limiter := limittest.Deny(time.Minute).Limiter()
	app := fiber.New()
	app.Get("/", fiberlimit.Middleware(limiter, fiberlimit.Skip(nil), fiberlimit.Denied(nil)), ok)
	kept := fiberlimit.Middleware(limiter, fiberlimit.Skip(isProbe), fiberlimit.Denied(say), fiberlimit.Skip(nil), fiberlimit.Denied(nil))
	app.Get("/kept", kept, ok)
	app.Get("/probe", kept, ok)

	limittest.AssertDenied(t, do(t, app, "GET", "/"), time.Minute)
	for path, want := range map[string]int{"/kept": http.StatusTeapot, "/probe": http.StatusOK} {
		if got := do(t, app, "GET", path).StatusCode; got != want {
			t.Errorf("%s: answered %d, want %d", path, got, want)
		}
	}
}

func TestPanicKeepsItsStack(t *testing.T) {
	adaptertest.PassesPanic(t, func(explode func()) {
		app := fiber.New()
		app.Get("/", fiberlimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone), func(*fiber.Ctx) error { explode(); return nil })
		serve(app)
	})
}

// serve has the app answer GET / on this goroutine.
func serve(app *fiber.App) *fasthttp.RequestCtx {
	var ctx fasthttp.RequestCtx
	ctx.Init(new(fasthttp.Request), nil, nil)
	app.Handler()(&ctx)
	return &ctx
}

// What a handler, or a limiter further out, has said before still counts.
func TestDenyKeepsTheLongerRetryAfter(t *testing.T) {
	accounts := limittest.Deny(time.Minute).Limiter()
	for prior, want := range map[string]time.Duration{"120": 2 * time.Minute, "5": time.Minute, "": time.Minute, "soon": time.Minute} {
		app := fiber.New()
		app.Get("/", func(c *fiber.Ctx) error {
			if prior != "" {
				c.Set("Retry-After", prior)
			}
			d, _ := accounts.Allow(c.UserContext(), "ann", 1)
			return fiberlimit.Deny(c, d)
		})
		limittest.AssertDenied(t, do(t, app, "GET", "/"), want)
	}
}

func TestDeadlineEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{{
			Name: "slow", Limit: ratelimit.PerHour(1), Key: keyfuncs.Everyone, Over: ratelimit.Delay(time.Hour),
		}}})
		ran, patience := 0, 2*time.Hour
		app := fiber.New()
		app.Use(func(c *fiber.Ctx) error {
			ctx, cancel := context.WithTimeout(c.UserContext(), patience)
			defer cancel()
			c.SetUserContext(ctx)
			return c.Next()
		})
		app.Get("/", fiberlimit.Middleware(limits), func(*fiber.Ctx) error { ran++; return nil })
		if got := serve(app).Response.StatusCode(); got != http.StatusOK {
			t.Errorf("the first: %d", got)
		}

		patience = time.Minute
		begin := time.Now()
		got := serve(app).Response.StatusCode()
		if waited := time.Since(begin); waited != time.Minute || got != http.StatusServiceUnavailable || ran != 1 {
			t.Errorf("answered %d after %v, %d runs; want 503 after a minute, 1 run", got, waited, ran)
		}

		patience, begin = 2*time.Hour, time.Now()
		got = serve(app).Response.StatusCode() // the place in the queue was given back
		if waited := time.Since(begin); waited != 59*time.Minute || got != http.StatusOK {
			t.Errorf("answered %d after %v, want 200 after 59m", got, waited)
		}
	})
}

// Nothing is left of an answer that the handler had set up, whatever the body was to
// be, and middlewares that compress find an answer to compress.
func TestDenyDropsTheHandlersAnswer(t *testing.T) {
	const want = `{"error":"rate_limit_exceeded","retry_after":60}`
	deny := limittest.Deny(time.Minute).Limiter()
	for name, prepare := range map[string]func(*fiber.Ctx){
		"bytes":   func(c *fiber.Ctx) { c.Send([]byte("zipped")) },
		"raw":     func(c *fiber.Ctx) { c.Response().SetBodyRaw([]byte("zipped")) },
		"reader":  func(c *fiber.Ctx) { c.SendStream(strings.NewReader("zipped"), 6) },
		"writer":  func(c *fiber.Ctx) { c.Context().SetBodyStreamWriter(func(w *bufio.Writer) { w.WriteString("zipped") }) },
		"nothing": func(*fiber.Ctx) {},
	} {
		app := fiber.New()
		app.Use(compress.New())
		app.Get("/", func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderContentEncoding, "zstd")
			prepare(c)
			d, _ := deny.Allow(c.UserContext(), "ann", 1)
			return fiberlimit.Deny(c, d)
		})
		resp := do(t, app, "GET", "/")
		limittest.AssertDenied(t, resp, time.Minute)
		body, err := io.ReadAll(resp.Body)
		if encoding := resp.Header.Get("Content-Encoding"); err != nil || string(body) != want || encoding != "" {
			t.Errorf("%s: %q, Content-Encoding %q, %v", name, body, encoding, err)
		}
	}
}
