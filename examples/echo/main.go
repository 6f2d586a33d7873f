// Command echo is an echo app with four limits: on everything by client address, a
// strict one on the login, a costly search, and one by API key.
package main

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/examples/internal/serve"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// newApp returns the app with its limits. They are counted in this process.
func newApp() http.Handler {
	// Everything, by client address: a generous ceiling. Behind a proxy of yours,
	// give its address to keyfuncs.TrustProxies; no other header is believed.
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{{
		Name: "global", Limit: ratelimit.PerMinute(600), Key: keyfuncs.ClientIP(),
	}}})

	// Logins: never more than 10 in any 5 minutes, to the second.
	login := limits.With(ratelimit.Policy{
		Name:  "login",
		Limit: ratelimit.Per(10, 5*time.Minute).Using(ratelimit.SlidingLog),
		Key:   keyfuncs.ClientIP(),
	})

	// A search is dear: it takes 5 of 100 units a minute.
	search := limits.With(ratelimit.Policy{
		Name: "search", Limit: ratelimit.PerMinute(100), Key: keyfuncs.ClientIP(), Cost: keyfuncs.Fixed(5),
	})

	// The API counts by key, and lets 20 calls come at once. Calls without a key
	// share one bucket, so leaving it out gains nothing; to make up keys would,
	// so a real app checks them before this.
	api := limits.With(ratelimit.Policy{
		Name: "api", Limit: ratelimit.PerMinute(60).WithBurst(20), Key: keyfuncs.APIKey("X-Api-Key"),
	})

	e := echo.New()
	e.Use(middleware.Recover(), echolimit.Middleware(limits))
	e.GET("/", say("hello"))
	e.POST("/login", say("wrong password"), echolimit.Middleware(login))
	e.GET("/search", say("nothing found"), echolimit.Middleware(search))
	e.Group("/api", echolimit.Middleware(api)).GET("/items", say("[]"))
	return e
}

func say(text string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.String(http.StatusOK, text+"\n") }
}

func main() {
	serve.Main(serve.HTTP(newApp()))
}
