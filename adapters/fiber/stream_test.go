package fiberlimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp/fasthttputil"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A body that is streamed and belongs to a denied request is read by nobody. What
// is in it must not become a request of its own.
func TestUnreadBodyIsNoRequest(t *testing.T) {
	const body = "xxxxxxxxxxxxxxxxGET /hidden HTTP/1.1\r\nHost: app.test\r\n\r\n"
	limiter := limittest.Deny(time.Hour).Limiter()
	bare := fiberlimit.Denied(func(*fiber.Ctx, ratelimit.Decision) error { return nil })
	for name, handler := range map[string]fiber.Handler{
		"Middleware":      fiberlimit.Middleware(limiter),
		"Denied":          fiberlimit.Middleware(limiter, bare),
		"UseErrorHandler": fiberlimit.Middleware(limiter, fiberlimit.UseErrorHandler()),
		"Deny": func(c *fiber.Ctx) error {
			d, _ := limiter.Allow(c.UserContext(), "ann", 1)
			return fiberlimit.Deny(c, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := fiber.New(fiber.Config{StreamRequestBody: true, BodyLimit: 16, DisableStartupMessage: true})
			app.Post("/", handler)
			app.Get("/hidden", func(*fiber.Ctx) error { t.Error("the body was taken for a request"); return nil })
			conn, err := listen(t, app).Dial()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			resp, reader := answer(t, conn, fmt.Sprintf("POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
			limittest.AssertDenied(t, resp, time.Hour)
			if !resp.Close {
				t.Fatal("the connection goes on, with what is left of the body")
			}
			io.Copy(io.Discard, resp.Body)
			if rest, _ := io.ReadAll(reader); len(rest) > 0 {
				t.Errorf("the connection goes on: %q", rest)
			}
		})
	}
}

// listen serves the app in memory.
func listen(t *testing.T, app *fiber.App) *fasthttputil.InmemoryListener {
	t.Helper()
	l := fasthttputil.NewInmemoryListener()
	done := make(chan error, 1)
	go func() { done <- app.Listener(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l
}

// answer sends a request as it stands and reads what comes first.
func answer(t *testing.T, conn net.Conn, request string) (*http.Response, *bufio.Reader) {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp, reader
}
