package echolimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/labstack/echo/v4"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// look returns a middleware that shows its requests to see.
func look(see func(ratelimit.Request)) echo.MiddlewareFunc {
	return echolimit.Limit(ratelimit.PerMinute(100), func(dst []byte, r ratelimit.Request) ([]byte, error) {
		see(r)
		return append(dst, 'k'), nil
	})
}

// echo routes before its middlewares run, but for those of Pre.
func TestRouteAndPathValues(t *testing.T) {
	var routes, ids []string
	note := func(r ratelimit.Request) {
		routes, ids = append(routes, r.Route()), append(ids, r.PathValue("id"))
	}
	e := echo.New()
	e.Pre(look(note))
	e.Use(look(note))
	e.Group("/api", look(note)).GET("/users/:id", hello)

	get(e, "/api/users/a%2Fb")
	if want := []string{"", "/api/users/:id", "/api/users/:id"}; !slices.Equal(routes, want) {
		t.Errorf("routes %q, want %q", routes, want)
	}
	if want := []string{"", "a/b", "a/b"}; !slices.Equal(ids, want) {
		t.Errorf("path values %q, want %q", ids, want)
	}
}

// custom is a context of the app's own, as echo's guide has it.
type custom struct{ echo.Context }

func TestNativeAndValue(t *testing.T) {
	type key struct{}
	var native, own, contexts, typed, none any
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Set("user", "ann")
			return next(&custom{c})
		}
	}, look(func(r ratelimit.Request) {
		native, own, contexts = r.Native(), r.Value("user"), r.Value("tenant")
		typed, none = r.Value(key{}), r.Value("other")
	}))
	e.GET("/", hello)

	ctx := context.WithValue(t.Context(), key{}, 7)
	//lint:ignore SA1029 a string is no good key, but apps have such
	ctx = context.WithValue(ctx, "tenant", "acme")
	e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if _, ok := native.(*custom); !ok {
		t.Errorf("native is %T, want the app's context", native)
	}
	if own != "ann" || contexts != "acme" || typed != 7 || none != nil {
		t.Errorf("values %v, %v, %v, %v", own, contexts, typed, none)
	}
}
