package chilimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-chi/chi/v5"
	chilimit "github.com/weirhq/ratelimit/adapters/chi"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// call prints how h answers.
func call(h http.Handler, method, path string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	fmt.Println(w.Code, w.Body)
}

func ExampleLimit() {
	r := chi.NewRouter()
	r.Use(chilimit.Limit(ratelimit.PerMinute(2), keyfuncs.ClientIP()))
	r.Get("/", hello)

	for range 3 {
		call(r, "GET", "/")
	}
	// Output:
	// 200 hello
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":30}
}

func ExampleMiddleware() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerMinute(100), Key: keyfuncs.ClientIP()},
	}})
	login := ratelimit.Policy{Name: "login", Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP()}

	r := chi.NewRouter()
	r.Use(chilimit.Middleware(limits))
	r.Get("/", hello)
	r.With(chilimit.Middleware(limits.With(login))).Post("/login", hello)

	call(r, "POST", "/login")
	call(r, "POST", "/login")
	call(r, "GET", "/")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
	// 200 hello
}

func ExampleSkip() {
	r := chi.NewRouter()
	r.Use(chilimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		chilimit.Skip(func(r *http.Request) bool { return r.URL.Path == "/health" })))
	r.Get("/*", hello)

	call(r, "GET", "/")
	call(r, "GET", "/health")
	// Output:
	// 200 hello
	// 200 hello
}

func ExampleDenied() {
	r := chi.NewRouter()
	r.Use(chilimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		chilimit.Denied(func(w http.ResponseWriter, _ *http.Request, d ratelimit.Decision) {
			http.Error(w, "over the limit "+d.Policy, http.StatusTooManyRequests)
		})))
	r.Get("/", hello)

	call(r, "GET", "/")
	call(r, "GET", "/")
	// Output:
	// 200 hello
	// 429 over the limit limit
}

// A login is limited by the account that the form names as well, which only the
// handler knows.
func ExampleDeny() {
	accounts := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "account", Limit: ratelimit.PerMinute(1), Key: keyfuncs.Everyone},
	}})
	r := chi.NewRouter()
	r.Post("/login", func(w http.ResponseWriter, r *http.Request) {
		d, err := accounts.Allow(r.Context(), r.PostFormValue("account"), 1)
		if err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if !d.Allowed() {
			chilimit.Deny(w, r, d)
			return
		}
		hello(w, r)
	})

	call(r, "POST", "/login")
	call(r, "POST", "/login")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
}
