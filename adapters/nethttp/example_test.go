package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
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
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", hello)

	limit := httplimit.Limit(ratelimit.PerMinute(2), keyfuncs.ClientIP())
	app := limit(mux) // as in http.ListenAndServe(":8080", limit(mux))

	for range 3 {
		call(app, "GET", "/")
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
	login := limits.With(ratelimit.Policy{
		Name: "login", Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP(),
	})

	mux := http.NewServeMux()
	mux.HandleFunc("GET /", hello)
	mux.Handle("POST /login", httplimit.Middleware(login)(http.HandlerFunc(hello)))
	app := httplimit.Middleware(limits)(mux)

	call(app, "POST", "/login")
	call(app, "POST", "/login")
	call(app, "GET", "/")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
	// 200 hello
}

func ExampleSkip() {
	limit := httplimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		httplimit.Skip(func(r *http.Request) bool { return r.URL.Path == "/health" }))
	app := limit(http.HandlerFunc(hello))

	call(app, "GET", "/")
	call(app, "GET", "/health")
	// Output:
	// 200 hello
	// 200 hello
}

func ExampleDenied() {
	limit := httplimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		httplimit.Denied(func(w http.ResponseWriter, _ *http.Request, d ratelimit.Decision) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, "over the limit %q", d.Policy)
		}))
	app := limit(http.HandlerFunc(hello))

	call(app, "GET", "/")
	call(app, "GET", "/")
	// Output:
	// 200 hello
	// 429 over the limit "limit"
}

// A login is limited by the account that the form names as well, which only the
// handler knows.
func ExampleDeny() {
	accounts := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "account", Limit: ratelimit.PerMinute(1), Key: keyfuncs.Everyone},
	}})
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := accounts.Allow(r.Context(), r.PostFormValue("account"), 1)
		if err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if !d.Allowed() {
			httplimit.Deny(w, r, d)
			return
		}
		hello(w, r)
	})

	call(login, "POST", "/login")
	call(login, "POST", "/login")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
}

// A gateway has limits of its own, and its upstream others, which ModifyResponse
// keeps from the clients.
func Example_reverseProxy() {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "9000")
		fmt.Fprint(w, "hello")
	}))
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(resp *http.Response) error {
			for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
				resp.Header.Del(name)
			}
			return nil
		},
	}
	limit := httplimit.Limit(ratelimit.PerMinute(2), keyfuncs.ClientIP())
	app := limit(proxy)

	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Body, w.Header().Values("X-RateLimit-Limit"))
	// Output: hello [2]
}

// routed is what a router of one's own might keep in the request's context.
type routed struct{}

type routedView struct{ ratelimit.View }

func (v routedView) Text(what ratelimit.Text, name string, i int) (string, bool) {
	if what == ratelimit.TextRoute {
		pattern, ok := v.Value(routed{}).(string)
		return pattern, ok
	}
	return v.View.Text(what, name, i)
}

func ExampleWithView() {
	perRoute := httplimit.Limit(ratelimit.PerMinute(1), keyfuncs.Route,
		httplimit.WithView(func(r *http.Request) ratelimit.View { return routedView{httplimit.View(r)} }))
	app := perRoute(http.HandlerFunc(hello))

	call(app, "GET", "/")
	// Output: 200 hello
}

// View serves those who call a limiter themselves.
func ExampleView() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "api", Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP()},
	}})
	r := httptest.NewRequest("GET", "/", nil)

	for range 2 {
		t := limits.Begin(httplimit.View(r))
		fmt.Println(t.Outcome())
		t.End(0, nil)
	}
	// Output:
	// allowed
	// denied
}
