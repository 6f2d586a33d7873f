// Package std is what the adapters share whose frameworks are built on net/http:
// the request's parts, and how a ticket's headers and answer are written.
package std

import (
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Peer parses a RemoteAddr. Middlewares that rewrite it tend to drop the port, and
// listeners other than TCP put a path, a name, or "@" there.
func Peer(remoteAddr string) netip.AddrPort {
	if len(remoteAddr) < 2 {
		return netip.AddrPort{} // a unix socket's usual "@", without the parsers' errors
	}
	if peer, err := netip.ParseAddrPort(remoteAddr); err == nil {
		return peer
	}
	addr, bracketed := strings.CutPrefix(remoteAddr, "[")
	if bracketed {
		addr = strings.TrimSuffix(addr, "]")
	}
	ip, _ := netip.ParseAddr(addr) // the zero Addr where it is none
	return netip.AddrPortFrom(ip, 0)
}

// Identity tells a request from others under way: a copy that a middleware made to
// set a context shares the headers.
func Identity(r *http.Request) uintptr { return reflect.ValueOf(r.Header).Pointer() }

// Text is a View's Text, but for the route and the path values: those are the
// router's.
func Text(r *http.Request, what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextMethod:
		return r.Method, true
	case ratelimit.TextHost:
		return r.Host, r.Host != ""
	case ratelimit.TextPath:
		return r.URL.Path, true
	case ratelimit.TextRawQuery:
		return r.URL.RawQuery, r.URL.RawQuery != ""
	case ratelimit.TextHeader:
		return header(r, name, i)
	case ratelimit.TextContentLength:
		return contentLength(r)
	default:
		return "", false
	}
}

func header(r *http.Request, name string, i int) (string, bool) {
	if lines := r.Header.Values(name); i < len(lines) {
		return lines[i], true
	}
	if i == 0 && strings.EqualFold(name, "Host") {
		return r.Host, r.Host != "" // net/http takes it out of the header
	}
	return "", false
}

func contentLength(r *http.Request) (string, bool) {
	if r.ContentLength < 0 {
		return "", false
	}
	// Most often the client's own digits say it, and need no new string.
	line := r.Header.Get("Content-Length")
	if n, err := strconv.ParseInt(line, 10, 64); err == nil && n == r.ContentLength {
		return line, true
	}
	return strconv.FormatInt(r.ContentLength, 10), true
}

// PathValue returns a router's path value decoded, so that "/users/%61nn" is no
// other key than "/users/ann". It is for routers that match the path as sent where
// that is not the one that net/url would write.
func PathValue(r *http.Request, value string) (string, bool) {
	if r.URL.RawPath != "" {
		if decoded, err := url.PathUnescape(value); err == nil {
			value = decoded
		}
	}
	return value, value != ""
}
