package fiberlimit

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// What a ticket is told: fiber answers 200 until its ErrorHandler has run.
func TestStatusOf(t *testing.T) {
	c := fiber.New().AcquireCtx(new(fasthttp.RequestCtx))
	c.Status(fiber.StatusCreated)
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 201},
		{fiber.ErrNotFound, 404},
		{fiber.NewError(422, "no"), 422},
		{fmt.Errorf("loading: %w", fiber.ErrForbidden), 403},
		{sql.ErrNoRows, 500},
	} {
		if got := statusOf(c, test.err); got != test.want {
			t.Errorf("%v: %d, want %d", test.err, got, test.want)
		}
	}
}
