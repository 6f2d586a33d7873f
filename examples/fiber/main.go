// Command fiber is a fiber app with four limits: on everything by client
// address, a strict one on the login, a costly search, and one by API key.
package main

import (
	"time"

	"github.com/gofiber/fiber/v2"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/examples/internal/serve"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// newApp returns the app with its limits. They are counted in this process.
func newApp() *fiber.App {
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

	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadTimeout: 5 * time.Second, IdleTimeout: time.Minute})
	app.Use(fiberlimit.Middleware(limits))
	app.Get("/", say("hello"))
	app.Post("/login", fiberlimit.Middleware(login), say("wrong password"))
	app.Get("/search", fiberlimit.Middleware(search), say("nothing found"))
	app.Group("/api", fiberlimit.Middleware(api)).Get("/items", say("[]"))
	return app
}

func say(text string) fiber.Handler {
	return func(c *fiber.Ctx) error { return c.SendString(text + "\n") }
}

func main() {
	serve.Main(newApp())
}
