package fiberlimit_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// look returns a middleware that shows each request to see.
func look(see func(ratelimit.Request)) fiber.Handler {
	return fiberlimit.Limit(ratelimit.PerMinute(100), func(dst []byte, r ratelimit.Request) ([]byte, error) {
		see(r)
		return append(dst, 'k'), nil
	})
}

// address is that of a listener of one's own.
type address string

func (address) Network() string  { return "own" }
func (a address) String() string { return string(a) }

func TestPeer(t *testing.T) {
	for _, test := range []struct {
		addr net.Addr
		want string
	}{
		{&net.TCPAddr{IP: net.IP{203, 0, 113, 7}, Port: 51514}, "203.0.113.7:51514"},
		{&net.TCPAddr{IP: net.IPv4(203, 0, 113, 7), Port: 40000}, "203.0.113.7:40000"}, // 16 bytes
		{&net.TCPAddr{IP: net.ParseIP("2001:db8::9"), Port: 443}, "[2001:db8::9]:443"},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0", Port: 1}, "[fe80::1%eth0]:1"},
		{&net.TCPAddr{}, ""},
		{&net.UnixAddr{Name: "/run/app.sock", Net: "unix"}, ""},
		{&net.UnixAddr{Name: "@", Net: "unix"}, ""},
		{address("203.0.113.7:51514"), "203.0.113.7:51514"},
		{address("[::ffff:203.0.113.7]:40000"), "203.0.113.7:40000"},
		{address("pipe"), ""},
		{address(""), ""},
	} {
		var got, want netip.AddrPort
		if test.want != "" {
			want = netip.MustParseAddrPort(test.want)
		}
		app := fiber.New()
		app.Use(look(func(r ratelimit.Request) { got = r.Peer() }))
		var ctx fasthttp.RequestCtx
		ctx.Init(new(fasthttp.Request), test.addr, nil)
		app.Handler()(&ctx)
		if got.Addr() != want.Addr() || got.Port() != want.Port() {
			t.Errorf("%T %v: peer %v, want %v", test.addr, test.addr, got, want)
		}
	}
}

// What of the route is known depends on where the middleware stands.
func TestRouteAndPathValues(t *testing.T) {
	var routes, ids []string
	see := func() fiber.Handler {
		return look(func(r ratelimit.Request) {
			routes, ids = append(routes, strings.Clone(r.Route())), append(ids, strings.Clone(r.PathValue("id")))
		})
	}
	posts := fiber.New()
	posts.Use(see())
	posts.Get("/posts/:post", see(), ok)
	app := fiber.New()
	app.Use(see())
	app.Use("/users/:id", see())
	users := app.Group("/users/:id", see())
	users.Get("/", see(), ok)
	app.Mount("/blog", posts)
	app.Static("/static", t.TempDir())
	app.All("/any/*", see(), ok)

	for target, want := range map[string]struct{ routes, ids []string }{
		"GET /users/7":             {[]string{"", "", "", "/users/:id/"}, []string{"", "7", "7", "7"}},
		"HEAD /users/a%20b/?id=no": {[]string{"", "", "", "/users/:id/"}, []string{"", "a b", "a b", "a b"}},
		"GET /blog/posts/3":        {[]string{"", "", "/blog/posts/:post"}, []string{"", "", ""}},
		"PUT /any/thing":           {[]string{"", "/any/*"}, []string{"", ""}},
		"GET /static/missing":      {[]string{""}, []string{""}},
	} {
		routes, ids = nil, nil
		method, path, _ := strings.Cut(target, " ")
		do(t, app, method, path)
		if !slices.Equal(routes, want.routes) || !slices.Equal(ids, want.ids) {
			t.Errorf("%s: routes %q, values %q, want %q, %q", target, routes, ids, want.routes, want.ids)
		}
	}
}

// The path is the one that fiber's routes meet, decoded: not cleaned, in which
// "/files/../health" would be something else.
func TestPath(t *testing.T) {
	for target, want := range map[string]string{
		"/":                   "/",
		"/a%20b":              "/a b",
		"/a+b%2Fc?q":          "/a+b/c",
		"//login":             "//login",
		"/files/../health":    "/files/../health",
		"/files/%2e%2e/login": "/files/../login",
		"/%zz":                "/%zz",
	} {
		for _, config := range []fiber.Config{{}, {UnescapePath: true}} {
			got := "not asked"
			app := fiber.New(config)
			app.Use(look(func(r ratelimit.Request) { got = strings.Clone(r.Path()) }))
			var ctx fasthttp.RequestCtx
			ctx.Init(new(fasthttp.Request), nil, nil)
			ctx.Request.SetRequestURI(target)
			ctx.Request.Header.SetHost("app.test")
			app.Handler()(&ctx)
			if got != want {
				t.Errorf("%s: path %q, want %q", target, got, want)
			}
		}
	}
}

// Header names are found in any case, where fiber keeps them as sent as well, and
// hosts that a proxy claims are not believed.
func TestHeadersAndHost(t *testing.T) {
	const raw = "GET /a HTTP/1.1\r\nHost: API.test:81\r\nx-forwarded-host: evil.test\r\nX-FORWARDED-FOR: one\r\n" +
		"x-forwarded-for: two, three\r\ncookie: a=1\r\nEmpty:\r\n\r\n"
	for _, config := range []fiber.Config{
		{EnableTrustedProxyCheck: true, TrustedProxies: []string{"0.0.0.0"}},
		{DisableHeaderNormalizing: true},
	} {
		config.DisableStartupMessage = true
		asked := 0
		app := fiber.New(config)
		app.Use(look(func(r ratelimit.Request) {
			asked++
			if got := r.Host(); got != "api.test:81" { // fasthttp's spelling
				t.Errorf("host %q", got)
			}
			for _, line := range []struct {
				name string
				i    int
				want string
				ok   bool
			}{
				{"X-Forwarded-For", 0, "one", true},
				{"x-forwarded-for", 1, "two, three", true},
				{"X-Forwarded-For", 2, "", false},
				{"HOST", 0, "API.test:81", true},
				{"Cookie", 0, "a=1", true},
				{"Cookie", 1, "", false},
				{"empty", 0, "", true},
				{"missing", 0, "", false},
			} {
				if got, ok := r.HeaderLine(line.name, line.i); got != line.want || ok != line.ok {
					t.Errorf("%s, line %d: %q, %t, want %q, %t", line.name, line.i, got, ok, line.want, line.ok)
				}
			}
		}))
		conn, err := listen(t, app).Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		answer(t, conn, raw)
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	}
}

func TestNativeAndValue(t *testing.T) {
	type key struct{ n int }
	asked := 0
	app := fiber.New()
	app.Use(func(c *fiber.Ctx) error {
		c.Locals(key{1}, "local")
		c.Locals("name", "local")
		ctx := context.WithValue(c.UserContext(), key{1}, "context")
		c.SetUserContext(context.WithValue(ctx, key{2}, "context"))
		return c.Next()
	})
	app.Get("/", look(func(r ratelimit.Request) {
		asked++
		for key, want := range map[any]any{key{1}: "local", "name": "local", key{2}: "context", key{3}: nil} {
			if got := r.Value(key); got != want {
				t.Errorf("value %v: %v, want %v", key, got, want)
			}
		}
		if r.Context().Value(key{2}) != "context" {
			t.Error("the context is not the app's")
		}
		if c, ok := r.Native().(*fiber.Ctx); !ok || c.Get("X-Native") != "yes" {
			t.Errorf("native is %T", r.Native())
		}
	}), ok)
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Header.Set("X-Native", "yes")
	send(t, app, req)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
