package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"
	echolimit "github.com/weirhq/ratelimit/adapters/echo"
	fiberlimit "github.com/weirhq/ratelimit/adapters/fiber"
	ginlimit "github.com/weirhq/ratelimit/adapters/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func Example_frameworks() {
	gin.SetMode(gin.ReleaseMode)

	// gin
	r := gin.New()
	r.Use(ginlimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))

	// echo
	e := echo.New()
	e.Use(echolimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))

	// fiber
	app := fiber.New()
	app.Use(fiberlimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))

	for _, h := range []http.Handler{r, e} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		fmt.Println(w.Header().Get("X-RateLimit-Remaining"))
	}
	answer, err := app.Test(httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.Header.Get("X-RateLimit-Remaining"))
	// Output:
	// 99
	// 99
	// 99
}
