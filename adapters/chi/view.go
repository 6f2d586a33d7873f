package chilimit

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// view is httplimit's, with chi's route: until chi has routed, Request.Pattern may
// hold that of a mux around it. Path values chi puts where net/http does.
type view http.Request

func newView(r *http.Request) ratelimit.View { return (*view)(r) }

func (v *view) http() ratelimit.View { return httplimit.View((*http.Request)(v)) }

func (v *view) Context() context.Context { return v.http().Context() }
func (v *view) Peer() netip.AddrPort     { return v.http().Peer() }
func (v *view) Value(key any) any        { return v.http().Value(key) }
func (v *view) Native() any              { return v.http().Native() }

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	if what != ratelimit.TextRoute {
		return v.http().Text(what, name, i)
	}
	pattern := chi.RouteContext(v.Context()).RoutePattern()
	return pattern, pattern != ""
}
