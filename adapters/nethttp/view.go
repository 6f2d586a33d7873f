package httplimit

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

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

// Peer parses RemoteAddr. Middlewares that rewrite it tend to drop the port, and
// listeners other than TCP put a path, a name, or "@" there.
func (v *view) Peer() netip.AddrPort {
	if len(v.RemoteAddr) < 2 {
		return netip.AddrPort{} // a unix socket's usual "@", without the parsers' errors
	}
	if peer, err := netip.ParseAddrPort(v.RemoteAddr); err == nil {
		return peer
	}
	addr, bracketed := strings.CutPrefix(v.RemoteAddr, "[")
	if bracketed {
		addr = strings.TrimSuffix(addr, "]")
	}
	ip, _ := netip.ParseAddr(addr) // the zero Addr where it is none
	return netip.AddrPortFrom(ip, 0)
}

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextMethod:
		return v.Method, true
	case ratelimit.TextHost:
		return v.Host, v.Host != ""
	case ratelimit.TextPath:
		return v.URL.Path, true
	case ratelimit.TextRoute:
		return v.route()
	case ratelimit.TextRawQuery:
		return v.URL.RawQuery, v.URL.RawQuery != ""
	case ratelimit.TextHeader:
		return v.header(name, i)
	case ratelimit.TextPathValue:
		value := v.request().PathValue(name)
		return value, value != ""
	case ratelimit.TextContentLength:
		return v.contentLength()
	default:
		return "", false
	}
}

func (v *view) route() (string, bool) {
	route := v.Pattern
	if i := strings.IndexAny(route, " \t"); i >= 0 {
		route = strings.TrimLeft(route[i:], " \t")
	}
	return route, route != ""
}

func (v *view) header(name string, i int) (string, bool) {
	if lines := v.Header.Values(name); i < len(lines) {
		return lines[i], true
	}
	if i == 0 && strings.EqualFold(name, "Host") {
		return v.Host, v.Host != "" // net/http takes it out of the header
	}
	return "", false
}

func (v *view) contentLength() (string, bool) {
	if v.ContentLength < 0 {
		return "", false
	}
	// Most often the client's own digits say it, and need no new string.
	line := v.Header.Get("Content-Length")
	if n, err := strconv.ParseInt(line, 10, 64); err == nil && n == v.ContentLength {
		return line, true
	}
	return strconv.FormatInt(v.ContentLength, 10), true
}
