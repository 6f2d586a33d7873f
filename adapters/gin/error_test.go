package ginlimit

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// The ticket is told the error of the handlers behind it, not one from before.
func TestLastError(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	outer, first, last := errors.New("outer"), errors.New("first"), errors.New("last")
	c.Error(outer)
	before := len(c.Errors)
	if err := lastError(c, before); err != nil {
		t.Errorf("no handler failed: %v", err)
	}
	c.Error(first)
	c.Error(last)
	if err := lastError(c, before); err != last {
		t.Errorf("got %v, want the last", err)
	}
}

// ended is an observer that keeps the end told last.
type ended struct{ last ratelimit.Ended }

func (*ended) Decided(context.Context, []byte, ratelimit.Decision) {}
func (*ended) Reported(context.Context, ratelimit.Report)          {}
func (e *ended) Ended(_ context.Context, end ratelimit.Ended)      { e.last = end }

func TestErrorOfDeniedIsTold(t *testing.T) {
	end, broken := new(ended), errors.New("broken")
	limiter := ratelimit.Must(ratelimit.Config{
		Observer: end, Policies: []ratelimit.Policy{{Name: "p", Limit: ratelimit.PerHour(1), Key: keyfuncs.Everyone}},
	})
	r := gin.New()
	r.Use(Middleware(limiter, Denied(func(c *gin.Context, _ ratelimit.Decision) { c.AbortWithError(http.StatusTeapot, broken) })))
	r.GET("/", func(*gin.Context) {})
	for range 2 {
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	if want := (ratelimit.Ended{Outcome: ratelimit.Denied, Status: http.StatusTeapot, Err: broken}); end.last != want {
		t.Errorf("told %+v, want %+v", end.last, want)
	}
}
