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
