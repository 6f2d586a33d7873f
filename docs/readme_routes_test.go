package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/go-chi/chi/v5"
	chilimit "github.com/weirhq/ratelimit/adapters/chi"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// Two apps with the same limits share the counts of the login.
func Example_routes() {
	signIn := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "wrong password") })
	r, mux := chi.NewRouter(), http.NewServeMux()

	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "global", Limit: ratelimit.PerMinute(600), Key: keyfuncs.ClientIP()},
	}})
	login := ratelimit.Policy{
		Name: "login", Limit: ratelimit.Per(10, 5*time.Minute).Using(ratelimit.SlidingLog), Key: keyfuncs.ClientIP(),
	}

	// chi
	r.Use(chilimit.Middleware(limits))
	r.With(chilimit.Middleware(limits.With(login))).Post("/login", signIn)

	// net/http
	mux.Handle("POST /login", httplimit.Middleware(limits.With(login))(signIn))
	app := httplimit.Middleware(limits)(mux)

	answers := map[int]int{}
	for i := range 12 {
		h := http.Handler(r)
		if i%2 == 0 {
			h = app
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/login", nil))
		answers[w.Code]++
	}
	fmt.Println(answers)
	// Output: map[200:10 429:2]
}
