package fiberlimit_test

import (
	"fmt"
	"io"
	"net/http/httptest"

	"github.com/gofiber/fiber/v2"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func hello(c *fiber.Ctx) error { return c.SendString("hello") }

// call prints how the app answers.
func call(app *fiber.App, method, path string) {
	resp, err := app.Test(httptest.NewRequest(method, path, nil), -1)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body))
}

func ExampleLimit() {
	app := fiber.New()
	app.Use(fiberlimit.Limit(ratelimit.PerMinute(2), keyfuncs.ClientIP()))
	app.Get("/", hello)

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
	login := ratelimit.Policy{Name: "login", Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP()}

	app := fiber.New()
	app.Use(fiberlimit.Middleware(limits))
	app.Get("/", hello)
	app.Post("/login", fiberlimit.Middleware(limits.With(login)), hello)

	call(app, "POST", "/login")
	call(app, "POST", "/login")
	call(app, "GET", "/")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
	// 200 hello
}

func ExampleSkip() {
	app := fiber.New()
	app.Use(fiberlimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		fiberlimit.Skip(func(c *fiber.Ctx) bool { return c.Path() == "/health" })))
	app.Get("/*", hello)

	call(app, "GET", "/")
	call(app, "GET", "/health")
	// Output:
	// 200 hello
	// 200 hello
}

func ExampleDenied() {
	app := fiber.New()
	app.Use(fiberlimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(),
		fiberlimit.Denied(func(c *fiber.Ctx, d ratelimit.Decision) error {
			return c.SendString("over the limit " + d.Policy) // the status is set
		})))
	app.Get("/", hello)

	call(app, "GET", "/")
	call(app, "GET", "/")
	// Output:
	// 200 hello
	// 429 over the limit limit
}

func ExampleUseErrorHandler() {
	app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		e, ok := err.(*fiber.Error)
		if !ok {
			e = fiber.ErrInternalServerError
		}
		return c.Status(e.Code).JSON(fiber.Map{"problem": e.Message})
	}})
	app.Use(fiberlimit.Limit(ratelimit.PerMinute(1), keyfuncs.ClientIP(), fiberlimit.UseErrorHandler()))
	app.Get("/", hello)

	call(app, "GET", "/")
	call(app, "GET", "/")
	// Output:
	// 200 hello
	// 429 {"problem":"Too Many Requests"}
}

// A login is limited by the account that the form names as well, which only the
// handler knows.
func ExampleDeny() {
	accounts := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "account", Limit: ratelimit.PerMinute(1), Key: keyfuncs.Everyone},
	}})
	app := fiber.New()
	app.Post("/login", func(c *fiber.Ctx) error {
		d, err := accounts.Allow(c.UserContext(), c.FormValue("account"), 1)
		if err != nil {
			return err
		}
		if !d.Allowed() {
			return fiberlimit.Deny(c, d)
		}
		return hello(c)
	})

	call(app, "POST", "/login")
	call(app, "POST", "/login")
	// Output:
	// 200 hello
	// 429 {"error":"rate_limit_exceeded","retry_after":60}
}
