package ginlimit

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
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
