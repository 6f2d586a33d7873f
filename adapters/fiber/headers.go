package fiberlimit

import (
	"bytes"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// merge tells the ticket what limiters further out have set.
func merge(c *fiber.Ctx, t *ratelimit.Ticket) {
	t.Merge(func(name string) string { return utils.UnsafeString(c.Response().Header.Peek(name)) })
}

// setHeaders sets the ticket's headers. fasthttp copies the values into memory
// that it has.
func setHeaders(c *fiber.Ctx, t *ratelimit.Ticket) {
	for i := 0; ; i++ {
		name, value, ok := t.HeaderAt(i)
		if !ok {
			return
		}
		c.Response().Header.SetBytesV(name, value)
	}
}

// restoreHeaders sets the ticket's headers again where they are not all left: handlers
// that reset the response did not mean them, nor do those that put another server's
// response in its place, as fiber's proxy does, mean to tell more than is left here.
// What stands there is merged as if it were that of a limiter further out, so what a
// limiter further in said stays. So does all that a denial says that is not the
// ticket's own.
func restoreHeaders(c *fiber.Ctx, t *ratelimit.Ticket, status int) {
	header := &c.Response().Header
	told, whole := false, true
	kept := make([]string, 0, 8) // no more than a ticket has, so that it is no allocation
	for i := 0; ; i++ {
		name, value, ok := t.HeaderAt(i)
		if !ok {
			break
		}
		present := header.Peek(name)
		told = told || len(present) > 0
		if holds(present, value) {
			kept = append(kept, name)
		} else {
			whole = false
		}
	}
	if whole || told && status == fiber.StatusTooManyRequests && t.Status() == 0 {
		return
	}
	merge(c, t)
	for i := 0; ; i++ {
		name, value, ok := t.HeaderAt(i)
		if !ok {
			return
		}
		if !slices.Contains(kept, name) {
			header.SetBytesV(name, value)
		}
	}
}

// holds reports whether a header has the value, or is a list that goes on from it: a
// limiter further in adds its members at the end.
func holds(present, value []byte) bool {
	rest, ok := bytes.CutPrefix(present, value)
	return ok && (len(rest) == 0 || rest[0] == ',')
}
