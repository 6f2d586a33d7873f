package ginlimit

import (
	"context"
	"net/netip"
	"net/url"
	"reflect"
	"strings"

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
		return v.pathValue(name)
	default:
		return std.Text(v.Request, what, name, i)
	}
}

// pathValue returns a path value decoded. A request that matches no route has none:
// gin leaves it those of a route that matched in part.
func (v *view) pathValue(name string) (string, bool) {
	if v.ctx().FullPath() == "" {
		return "", false
	}
	value := v.ctx().Param(name)
	if strings.IndexByte(value, '%') >= 0 && v.asSent() {
		if decoded, err := url.PathUnescape(value); err == nil {
			value = decoded
		}
	}
	return found(value)
}

// asSent reports whether gin took the path values from the path as it was sent, and
// left them like that. Only the engine's settings tell, and only a private field of
// gin's leads to them: what the value looks like, the client chooses.
func (v *view) asSent() bool {
	engine := reflect.ValueOf(v.ctx()).Elem().FieldByName("engine")
	if engine.Kind() != reflect.Pointer || engine.IsNil() {
		return false
	}
	set := func(name string) bool {
		field := engine.Elem().FieldByName(name)
		return field.Kind() == reflect.Bool && field.Bool()
	}
	raw := set("UseEscapedPath") || set("UseRawPath") && v.Request.URL.RawPath != ""
	return raw && !set("UnescapePathValues")
}

func found(text string) (string, bool) { return text, text != "" }
