package echolimit

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
)

// The ticket is told the status that the client will get from echo's error handler.
func TestStatusOf(t *testing.T) {
	teapot := echo.NewHTTPError(http.StatusTeapot)
	outer := echo.NewHTTPError(http.StatusBadGateway)
	outer.Internal = teapot
	causal := echo.NewHTTPError(http.StatusBadGateway)
	causal.Internal = errors.New("broken")
	for name, c := range map[string]struct {
		write int // 0: nothing
		err   error
		want  int
	}{
		"nothing":                {want: 200},
		"written":                {write: 201, want: 201},
		"an error":               {err: errors.New("broken"), want: 500},
		"an HTTP error":          {err: teapot, want: 418},
		"not found":              {err: echo.ErrNotFound, want: 404},
		"one within another":     {err: outer, want: 418},
		"one with a cause":       {err: causal, want: 502},
		"one that is wrapped":    {err: fmt.Errorf("in the handler: %w", teapot), want: 500},
		"an error after writing": {write: 200, err: errors.New("broken"), want: 200},
	} {
		e := echo.New()
		w := httptest.NewRecorder()
		ctx := e.NewContext(httptest.NewRequest(http.MethodGet, "/", nil), w)
		ctx.Response().Status = http.StatusOK // as echo makes it for each request
		if c.write != 0 {
			ctx.NoContent(c.write)
		}
		got := statusOf(ctx.Response(), nil, c.err)
		if c.err != nil {
			e.HTTPErrorHandler(c.err, ctx)
		}
		if got != c.want || w.Code != c.want {
			t.Errorf("%s: told %d, answered %d, want %d", name, got, w.Code, c.want)
		}
	}
}
