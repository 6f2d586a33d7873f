package ginlimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func hello(c *gin.Context) { c.String(http.StatusOK, "hello") }

// call prints how h answers.
func call(h http.Handler, method, path string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	fmt.Println(w.Code, w.Body)
}

func ExampleLimit() {
	r := gin.New()
	r.Use(ginlimit.Limit(ratelimit.PerMinute(2), keyfuncs.ClientIP()))
	r.GET("/", hello)

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

	r := gin.New()
	r.Use(ginlimit.Middleware(limits))
	r.GET("/", hello)
	r.POST("/login", ginlimit.Middleware(limits.With(login)), hello)

	call(r, "POST", "/login")
	call(r, "POST", "/login")
	call(r, "GET", "/")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
	// 200 hello
}

func ExampleSkip() {
	r := gin.New()
	r.Use(ginlimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		ginlimit.Skip(func(c *gin.Context) bool { return c.FullPath() == "/health" })))
	r.GET("/", hello)
	r.GET("/health", hello)

	call(r, "GET", "/")
	call(r, "GET", "/health")
	// Output:
	// 200 hello
	// 200 hello
}

func ExampleDenied() {
	r := gin.New()
	r.Use(ginlimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		ginlimit.Denied(func(c *gin.Context, d ratelimit.Decision) {
			c.String(http.StatusTooManyRequests, "over the limit %q", d.Policy)
		})))
	r.GET("/", hello)

	call(r, "GET", "/")
	call(r, "GET", "/")
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
	r := gin.New()
	r.POST("/login", func(c *gin.Context) {
		d, err := accounts.Allow(c.Request.Context(), c.PostForm("account"), 1)
		if err != nil {
			c.AbortWithError(http.StatusBadRequest, err)
			return
		}
		if !d.Allowed() {
			ginlimit.Deny(c, d)
			return
		}
		hello(c)
	})

	call(r, "POST", "/login")
	call(r, "POST", "/login")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
}
