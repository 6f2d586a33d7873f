package docs_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// serveFunc returns how an app answers.
type serveFunc func(*http.Request) (*http.Response, error)

func serveHTTP(h http.Handler) serveFunc {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result(), nil
	}
}

func ginLogin(limits *ratelimit.Limiter, login ratelimit.Policy) serveFunc {
	gin.SetMode(gin.ReleaseMode)
	signIn := func(c *gin.Context) { c.String(http.StatusOK, "wrong password") }
	r := gin.New()

	// gin
	r.Use(ginlimit.Middleware(limits))
	r.POST("/login", ginlimit.Middleware(limits.With(login)), signIn)

	return serveHTTP(r)
}

func echoLogin(limits *ratelimit.Limiter, login ratelimit.Policy) serveFunc {
	signIn := func(c echo.Context) error { return c.String(http.StatusOK, "wrong password") }
	e := echo.New()

	// echo
	e.Use(echolimit.Middleware(limits))
	e.POST("/login", signIn, echolimit.Middleware(limits.With(login)))

	return serveHTTP(e)
}

func fiberLogin(limits *ratelimit.Limiter, login ratelimit.Policy) serveFunc {
	signIn := func(c *fiber.Ctx) error { return c.SendString("wrong password") }
	app := fiber.New()

	// fiber
	app.Use(fiberlimit.Middleware(limits))
	app.Post("/login", fiberlimit.Middleware(limits.With(login)), signIn)

	return func(r *http.Request) (*http.Response, error) { return app.Test(r) }
}

func TestRoutesElsewhere(t *testing.T) {
	for name, build := range map[string]func(*ratelimit.Limiter, ratelimit.Policy) serveFunc{
		"gin": ginLogin, "echo": echoLogin, "fiber": fiberLogin,
	} {
		limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
			{Name: "global", Limit: ratelimit.PerMinute(600), Key: keyfuncs.ClientIP()},
		}})
		serve := build(limits, ratelimit.Policy{Name: "login", Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP()})
		for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
			resp, err := serve(httptest.NewRequest(http.MethodPost, "/login", nil))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%s: login %d is answered %d, want %d", name, i+1, resp.StatusCode, want)
			}
		}
	}
}
