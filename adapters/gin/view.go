package ginlimit

import (
	"context"
	"net/netip"

	"github.com/gin-gonic/gin"
	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// view is gin's context under another method set: a conversion, so it costs nothing.
type view gin.Context

func newView(c *gin.Context) ratelimit.View { return (*view)(c) }

func (v *view) ctx() *gin.Context { return (*gin.Context)(v) }

// Context is the request's. gin's own has a Done that never comes, unless the app
// asked for another.
func (v *view) Context() context.Context { return v.Request.Context() }
func (v *view) Peer() netip.AddrPort     { return std.Peer(v.Request.RemoteAddr) }
func (v *view) Native() any              { return v.ctx() }
func (v *view) Identity() uintptr        { return std.Identity(v.Request) }

// Value looks among the context's keys first, then in the request's context.
func (v *view) Value(key any) any {
	if value, ok := v.ctx().Get(key); ok {
		return value
	}
	return v.Context().Value(key)
}

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextRoute:
		return found(v.ctx().FullPath())
	case ratelimit.TextPathValue:
		return found(v.ctx().Param(name))
	default:
		return std.Text(v.Request, what, name, i)
	}
}

func found(text string) (string, bool) { return text, text != "" }
