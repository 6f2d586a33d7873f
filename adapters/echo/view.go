package echolimit

import (
	"context"
	"net/netip"

	"github.com/labstack/echo/v4"
	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// view shows echo's context, an interface that apps implement anew, so unlike other
// adapters' views it is a value of its own and costs an allocation. It has room for
// the headers' values, or they would cost one as well.
type view struct {
	c     echo.Context
	block std.Block
}

func (v *view) Context() context.Context { return v.c.Request().Context() }
func (v *view) Peer() netip.AddrPort     { return std.Peer(v.c.Request().RemoteAddr) }
func (v *view) Native() any              { return v.c }
func (v *view) Identity() uintptr        { return std.Identity(v.c.Request()) }

// Value looks among what was Set first, then in the request's context.
func (v *view) Value(key any) any {
	if name, ok := key.(string); ok {
		if value := v.c.Get(name); value != nil {
			return value
		}
	}
	return v.Context().Value(key)
}

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextRoute:
		route := v.c.Path()
		return route, route != ""
	case ratelimit.TextPathValue:
		return std.PathValue(v.c.Request(), v.c.Param(name))
	default:
		return std.Text(v.c.Request(), what, name, i)
	}
}
