package httplimit

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// View shows r to a limiter. The route is the pattern that [http.ServeMux]
// matched, without its method: "/users/{id}" of "GET /users/{id}". Route and path
// values are known to middlewares around a handler, not to those around the mux.
// The native request is r itself.
func View(r *http.Request) ratelimit.View { return (*view)(r) }

// view is the request under another method set: a conversion, so it costs nothing.
type view http.Request

func (v *view) request() *http.Request { return (*http.Request)(v) }

func (v *view) Context() context.Context { return v.request().Context() }
func (v *view) Value(key any) any        { return v.Context().Value(key) }
func (v *view) Native() any              { return v.request() }
func (v *view) Peer() netip.AddrPort     { return std.Peer(v.RemoteAddr) }
func (v *view) Identity() uintptr        { return std.Identity(v.request()) }

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextRoute:
		return v.route()
	case ratelimit.TextPathValue:
		value := v.request().PathValue(name)
		return value, value != ""
	default:
		return std.Text(v.request(), what, name, i)
	}
}

func (v *view) route() (string, bool) {
	route := v.Pattern
	if i := strings.IndexAny(route, " \t"); i >= 0 {
		route = strings.TrimLeft(route[i:], " \t")
	}
	return route, route != ""
}
