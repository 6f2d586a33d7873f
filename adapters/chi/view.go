package chilimit

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5"
	"github.com/weirhq/ratelimit/adapters/internal/std"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// view is httplimit's, with chi's route: until chi has routed, Request.Pattern may
// hold that of a mux around it. Path values chi puts where net/http does, as sent.
type view http.Request

func newView(r *http.Request) ratelimit.View { return (*view)(r) }

func (v *view) http() ratelimit.View { return httplimit.View((*http.Request)(v)) }

func (v *view) Context() context.Context { return v.http().Context() }
func (v *view) Peer() netip.AddrPort     { return v.http().Peer() }
func (v *view) Value(key any) any        { return v.http().Value(key) }
func (v *view) Native() any              { return v.http().Native() }
func (v *view) Identity() uintptr        { return std.Identity((*http.Request)(v)) }

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextRoute:
		pattern := chi.RouteContext(v.Context()).RoutePattern()
		return pattern, pattern != ""
	case ratelimit.TextPathValue:
		r := (*http.Request)(v)
		return std.PathValue(r, r.PathValue(name))
	default:
		return v.http().Text(what, name, i)
	}
}
