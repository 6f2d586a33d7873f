package chilimit_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/go-chi/chi/v5"
	chilimit "github.com/weirhq/ratelimit/adapters/chi"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// What of the route is known depends on where the middleware stands.
func TestRouteAndPathValues(t *testing.T) {
	var routes, ids []string
	look := chilimit.Limit(ratelimit.PerMinute(100), func(dst []byte, r ratelimit.Request) ([]byte, error) {
		routes, ids = append(routes, r.Route()), append(ids, r.PathValue("id"))
		if r.Native().(*http.Request) == nil {
			t.Error("no native request")
		}
		return append(dst, 'k'), nil
	})
	users := chi.NewRouter()
	users.Use(look)
	users.With(look).Get("/{id}/posts", func(http.ResponseWriter, *http.Request) {})
	r := chi.NewRouter()
	r.Use(look)
	r.Route("/api", func(r chi.Router) {
		r.Use(look)
		r.Mount("/users", users)
	})

	// A mux around it has a pattern of its own, which is not chi's.
	mux := http.NewServeMux()
	mux.Handle("/", look(r))
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/users/7/posts", nil))

	if want := []string{"", "", "/api/*", "/api/users/*", "/api/users/{id}/posts"}; !slices.Equal(routes, want) {
		t.Errorf("routes %q, want %q", routes, want)
	}
	if want := []string{"", "", "", "", "7"}; !slices.Equal(ids, want) {
		t.Errorf("path values %q, want %q", ids, want)
	}
}

// An option that is given nil changes nothing: the view is still chi's.
func TestNilOptions(t *testing.T) {
	var route string
	look := chilimit.Limit(ratelimit.PerMinute(1), func(dst []byte, r ratelimit.Request) ([]byte, error) {
		route = r.Route()
		return append(dst, 'k'), nil
	}, chilimit.Skip(nil), chilimit.Denied(nil), httplimit.WithView(nil))
	r := chi.NewRouter()
	r.With(look).Get("/users/{id}", func(http.ResponseWriter, *http.Request) {})

	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/users/7", nil))
		if w.Code != want || route != "/users/{id}" {
			t.Errorf("answered %d on %q, want %d", w.Code, route, want)
		}
	}
}
