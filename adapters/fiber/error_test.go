package fiberlimit_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// problems is an ErrorHandler that starts from an empty response.
func problems(name string) fiber.ErrorHandler {
	return func(c *fiber.Ctx, err error) error {
		retry := c.GetRespHeader("Retry-After")
		c.Response().Reset()
		var e *fiber.Error
		if !errors.As(err, &e) {
			return err
		}
		return c.Status(e.Code).SendString(name + ": " + e.Message + " " + retry)
	}
}

func TestErrorHandlerMayResetTheResponse(t *testing.T) {
	var seen error
	outer := func(c *fiber.Ctx) error { seen = c.Next(); return seen }
	closed := ratelimit.Must(ratelimit.Config{
		Store: limittest.Fail(errors.New("down")), OnFailure: ratelimit.FailClosed,
		Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerHour(1), Key: keyfuncs.Everyone}},
	})
	sub := fiber.New(fiber.Config{ErrorHandler: problems("sub")})
	sub.Get("/", fiberlimit.Limit(ratelimit.PerHour(1), keyfuncs.Everyone, fiberlimit.UseErrorHandler()), ok)
	app := fiber.New(fiber.Config{ErrorHandler: problems("app")})
	app.Use(outer)
	app.Get("/", fiberlimit.Limit(ratelimit.PerHour(1), keyfuncs.Everyone, fiberlimit.UseErrorHandler()), ok)
	app.Get("/closed", fiberlimit.Middleware(closed, fiberlimit.UseErrorHandler()), ok)
	app.Mount("/sub", sub)

	for path, want := range map[string]string{"/": "app: Too Many Requests 3600", "/sub": "sub: Too Many Requests 3600"} {
		limittest.AssertAllowed(t, do(t, app, "GET", path))
		resp := do(t, app, "GET", path)
		limittest.AssertDenied(t, resp, time.Hour)
		if got := resp.Header.Get("X-RateLimit-Limit"); got != "1" {
			t.Errorf("%s: X-RateLimit-Limit: %q", path, got)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != want {
			t.Errorf("%s: %q, %v, want %q", path, body, err, want)
		}
		if seen != nil {
			t.Errorf("%s: a middleware further out sees the error %v", path, seen)
		}
	}
	resp := do(t, app, "GET", "/closed")
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 503 || string(body) != "app: Service Unavailable " {
		t.Errorf("a failed store: %d %q, %v", resp.StatusCode, body, err)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("a failed store: Cache-Control: %q", got)
	}
}

// An ErrorHandler that fails is fiber's to answer.
func TestErrorHandlerThatFails(t *testing.T) {
	app := fiber.New(fiber.Config{ErrorHandler: func(*fiber.Ctx, error) error { return errors.New("broken") }})
	app.Get("/", fiberlimit.Limit(ratelimit.PerHour(1), keyfuncs.Everyone, fiberlimit.UseErrorHandler()), ok)
	limittest.AssertAllowed(t, do(t, app, "GET", "/"))
	if got := do(t, app, "GET", "/").StatusCode; got != fiber.StatusInternalServerError {
		t.Errorf("answered %d, want 500", got)
	}
}
