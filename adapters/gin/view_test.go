package ginlimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// look returns a middleware that shows its requests to see.
func look(see func(ratelimit.Request)) gin.HandlerFunc {
	return ginlimit.Limit(ratelimit.PerMinute(100), func(dst []byte, r ratelimit.Request) ([]byte, error) {
		see(r)
		return append(dst, 'k'), nil
	})
}

// gin routes before its middlewares run, so all of them know the whole route.
func TestRouteAndPathValues(t *testing.T) {
	var routes, ids []string
	note := func(r ratelimit.Request) {
		routes, ids = append(routes, r.Route()), append(ids, r.PathValue("id"))
	}
	r := gin.New()
	r.Use(look(note))
	r.Group("/api").GET("/users/:id", look(note), hello)
	r.GET("/files/*id", hello)

	get(r, "/api/users/7")
	get(r, "/files/a/b")
	get(r, "/nowhere/7")
	if want := []string{"/api/users/:id", "/api/users/:id", "/files/*id", ""}; !slices.Equal(routes, want) {
		t.Errorf("routes %q, want %q", routes, want)
	}
	if want := []string{"7", "7", "/a/b", ""}; !slices.Equal(ids, want) {
		t.Errorf("path values %q, want %q", ids, want)
	}
}

// What the engine decoded is not decoded again, and what it did not is.
func TestPathValueIsDecodedOnce(t *testing.T) {
	for _, engine := range []struct{ raw, escaped, unescape bool }{
		{false, false, true}, // gin's default
		{false, false, false},
		{true, false, true},
		{true, false, false},
		{false, true, true},
		{false, true, false},
	} {
		var id string
		r := gin.New()
		r.UseRawPath, r.UseEscapedPath, r.UnescapePathValues = engine.raw, engine.escaped, engine.unescape
		r.GET("/teams/:team/users/:id", look(func(r ratelimit.Request) { id = r.PathValue("id") }), hello)
		for path, want := range map[string]string{
			"/teams/a/users/ann":           "ann",
			"/teams/a/users/%61nn":         "ann",
			"/teams/%2561nn/users/%61nn":   "ann", // "%61nn" is in the decoded path as well
			"/teams/%61/users/%2561nn":     "%61nn",
			"/teams/a/users/100%25":        "100%",
			"/teams/%61/users/100%25":      "100%",
			"/teams/%61/users/a%20b":       "a b",
			"/teams/%61/users/%25%32%35":   "%25",
			"/teams/%61/users/a%2525%2561": "a%25%61",
		} {
			if get(r, path); id != want {
				t.Errorf("%+v: %s: path value %q, want %q", engine, path, id, want)
			}
		}
	}
}

// gin leaves what a route that matched in part gave.
func TestNoPathValueWithoutRoute(t *testing.T) {
	id := "not asked"
	r := gin.New()
	r.RedirectTrailingSlash = false
	r.Use(look(func(r ratelimit.Request) { id = r.PathValue("id") }))
	r.GET("/users/:id", hello)
	if got := get(r, "/users/7/").StatusCode; got != http.StatusNotFound || id != "" {
		t.Errorf("answered %d, with path value %q; want 404 without one", got, id)
	}
}

func TestNativeAndValue(t *testing.T) {
	type key struct{}
	var native, own, contexts, both, none any
	r := gin.New()
	r.Use(func(c *gin.Context) {
		c.Set("user", "ann")
		c.Set(key{}, "gin's")
	}, look(func(r ratelimit.Request) {
		native, own, contexts = r.Native(), r.Value("user"), r.Value("tenant")
		both, none = r.Value(key{}), r.Value("other")
	}))
	var c *gin.Context
	r.GET("/", func(ctx *gin.Context) { c = ctx })

	ctx := context.WithValue(t.Context(), key{}, "the request's")
	//lint:ignore SA1029 a string is no good key, but apps have such
	ctx = context.WithValue(ctx, "tenant", "acme")
	r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if native != any(c) {
		t.Errorf("native is %T, want gin's context", native)
	}
	if own != "ann" || contexts != "acme" || both != "gin's" || none != nil {
		t.Errorf("values %v, %v, %v, %v", own, contexts, both, none)
	}
}

func TestPeerIsTheConnection(t *testing.T) {
	var peer string
	r := gin.New()
	r.GET("/", look(func(r ratelimit.Request) { peer = r.Peer().String() }))
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.RemoteAddr = "203.0.113.7:51514"
	req.Header.Set("X-Forwarded-For", "198.51.100.1") // gin's ClientIP says so
	r.ServeHTTP(httptest.NewRecorder(), req)
	if peer != "203.0.113.7:51514" {
		t.Errorf("peer %s, want that of the connection", peer)
	}
}
