package echolimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v4"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func hello(c echo.Context) error { return c.String(http.StatusOK, "hello") }

// call prints how h answers.
func call(h http.Handler, method, path string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	fmt.Println(w.Code, w.Body)
}

func ExampleLimit() {
	e := echo.New()
	e.Use(echolimit.Limit(ratelimit.PerMinute(2), keyfuncs.ClientIP()))
	e.GET("/", hello)

	for range 3 {
		call(e, "GET", "/")
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

	e := echo.New()
	e.Use(echolimit.Middleware(limits))
	e.GET("/", hello)
	e.POST("/login", hello, echolimit.Middleware(limits.With(login)))

	call(e, "POST", "/login")
	call(e, "POST", "/login")
	call(e, "GET", "/")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
	// 200 hello
}

func ExampleSkip() {
	e := echo.New()
	e.Use(echolimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		echolimit.Skip(func(c echo.Context) bool { return c.Path() == "/health" })))
	e.GET("/", hello)
	e.GET("/health", hello)

	call(e, "GET", "/")
	call(e, "GET", "/health")
	// Output:
	// 200 hello
	// 200 hello
}

func ExampleDenied() {
	e := echo.New()
	e.Use(echolimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		echolimit.Denied(func(c echo.Context, d ratelimit.Decision) error {
			return c.String(http.StatusTooManyRequests, "over the limit "+d.Policy)
		})))
	e.GET("/", hello)

	call(e, "GET", "/")
	call(e, "GET", "/")
	// Output:
	// 200 hello
	// 429 over the limit limit
}

func ExampleUseErrorHandler() {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		c.String(http.StatusTooManyRequests, "sorry: "+err.Error())
	}
	e.Use(echolimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(), echolimit.UseErrorHandler()))
	e.GET("/", hello)

	call(e, "GET", "/")
	call(e, "GET", "/")
	// Output:
	// 200 hello
	// 429 sorry: code=429, message=Too Many Requests
}

// A login is limited by the account that the form names as well, which only the
// handler knows.
func ExampleDeny() {
	accounts := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "account", Limit: ratelimit.PerMinute(1), Key: keyfuncs.Everyone},
	}})
	e := echo.New()
	e.POST("/login", func(c echo.Context) error {
		d, err := accounts.Allow(c.Request().Context(), c.FormValue("account"), 1)
		if err != nil {
			return err
		}
		if !d.Allowed() {
			return echolimit.Deny(c, d)
		}
		return hello(c)
	})

	call(e, "POST", "/login")
	call(e, "POST", "/login")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
}
