//go:build !race

// The race detector makes sync.Pool drop things at random, which allocates.

package fiberlimit_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func TestMiddlewareAllocs(t *testing.T) {
	for name, policy := range policies() {
		for status, limit := range map[int]ratelimit.Limit{
			fiber.StatusOK:              ratelimit.PerSecond(1 << 30),
			fiber.StatusTooManyRequests: ratelimit.PerDay(1000),
		} {
			one, two, three := policy, policy, policy
			for i, p := range []*ratelimit.Policy{&one, &two, &three} {
				p.Name, p.Limit = fmt.Sprintf("p%d", i), limit
			}
			for _, list := range [][]ratelimit.Policy{{one}, {one, two, three}} {
				limiter := ratelimit.Must(ratelimit.Config{Policies: list})
				for _, peer := range peers {
					for _, config := range []fiber.Config{{}, {DisableHeaderNormalizing: true}} {
						got := allocs(t, config, peer, status, fiberlimit.Middleware(limiter)) - allocs(t, config, peer, fiber.StatusOK)
						if got != 0 {
							t.Errorf("%s, %d policies, %d, from %s, headers as sent %t: %v allocations over the bare handler, want 0",
								name, len(list), status, peer, config.DisableHeaderNormalizing, got)
						}
					}
				}
			}
		}
	}
}

func policies() map[string]ratelimit.Policy {
	cookie := func(r ratelimit.Request) string { value, _ := r.Cookie("session"); return value }
	query := func(r ratelimit.Request) string { value, _ := r.Query("q"); return value }
	local := func(r ratelimit.Request) string { user, _ := r.Value("user").(string); return user }
	return map[string]ratelimit.Policy{
		"ClientIP":           {Key: keyfuncs.ClientIP()},
		"ClientIP, trusting": {Key: keyfuncs.ClientIP(keyfuncs.TrustProxies("203.0.113.0/24", "2001:db8::/64"))},
		"Header":             {Key: keyfuncs.Header("X-Tenant")},
		"APIKey":             {Key: keyfuncs.APIKey("x-api-key")},
		"cookie":             {Key: keyfuncs.Func(cookie)},
		"query":              {Key: keyfuncs.Func(query)},
		"path":               {Key: keyfuncs.Func(ratelimit.Request.Path)},
		"path value":         {Key: keyfuncs.Func(func(r ratelimit.Request) string { return r.PathValue("id") })},
		"Route":              {Key: keyfuncs.Route},
		"host":               {Key: keyfuncs.Func(ratelimit.Request.Host)},
		"User":               {Key: keyfuncs.User(local)},
		"First":              {Key: keyfuncs.First(keyfuncs.Header("X-Missing"), keyfuncs.APIKey("X-Api-Key"))},
		"Join":               {Key: keyfuncs.Join(keyfuncs.ClientIP(), keyfuncs.Route, keyfuncs.Header("X-Tenant"))},
		"BodySize":           {Key: keyfuncs.Everyone, Cost: keyfuncs.BodySize(1024, 10)},
	}
}

var peers = []*net.TCPAddr{
	{IP: net.IPv4(203, 0, 113, 7), Port: 51514},
	{IP: net.ParseIP("2001:db8::9"), Port: 443},
}

const rawRequest = "POST /users/7?q=1 HTTP/1.1\r\nHost: api.test\r\nX-Api-Key: 0123456789abcdef\r\nX-Tenant: acme\r\n" +
	"X-Forwarded-For: 198.51.100.1, 2001:db8::7\r\nX-Forwarded-For: 203.0.113.7\r\nCookie: theme=dark; session=abc\r\nContent-Length: 5\r\n\r\nhello"

// allocs has the handlers answer one request, parsed as a server would, again and
// again, and counts.
func allocs(t *testing.T, config fiber.Config, peer net.Addr, status int, handlers ...fiber.Handler) float64 {
	t.Helper()
	app := fiber.New(config)
	app.Use(func(c *fiber.Ctx) error { c.Locals("user", "ann"); return c.Next() })
	app.Post("/users/:id", append(handlers, func(c *fiber.Ctx) error { return c.SendString("ok") })...)
	serve := app.Handler()

	var ctx fasthttp.RequestCtx
	ctx.Init2(conn{peer: peer}, nil, false)
	if config.DisableHeaderNormalizing {
		ctx.Request.Header.DisableNormalizing()
		ctx.Response.Header.DisableNormalizing()
	}
	if err := ctx.Request.Read(bufio.NewReader(strings.NewReader(rawRequest))); err != nil {
		t.Fatal(err)
	}
	one := func() {
		ctx.Response.Reset()
		ctx.ResetUserValues()
		serve(&ctx)
	}
	for range 1100 { // uses up the quota of those that deny
		one()
	}
	if got := ctx.Response.StatusCode(); got != status {
		t.Fatalf("answered %d, want %d", got, status)
	}
	return testing.AllocsPerRun(100, one)
}

// conn is a connection of which only the peer matters.
type conn struct {
	net.Conn
	peer net.Addr
}

func (c conn) RemoteAddr() net.Addr { return c.peer }
