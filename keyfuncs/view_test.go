package keyfuncs_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// view shows an *http.Request, much as the net/http adapter does.
type view struct {
	request *http.Request
	peer    netip.AddrPort
}

// with returns a GET request from 203.0.113.7 with changes.
func with(changes ...func(*http.Request)) *view { return get("203.0.113.7:51514").with(changes...) }

// with returns v after changes: for what is no header line.
func (v *view) with(changes ...func(*http.Request)) *view {
	for _, change := range changes {
		change(v.request)
	}
	return v
}

func method(s string) func(*http.Request) { return func(r *http.Request) { r.Method = s } }
func host(s string) func(*http.Request)   { return func(r *http.Request) { r.Host = s } }
func query(s string) func(*http.Request)  { return func(r *http.Request) { r.URL.RawQuery = s } }
func route(s string) func(*http.Request)  { return func(r *http.Request) { r.Pattern = s } }
func body(n int64) func(*http.Request)    { return func(r *http.Request) { r.ContentLength = n } }

func pathValue(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.SetPathValue(name, value) }
}

// get returns a GET request from remote, a RemoteAddr, with the header lines
// given as "Name: value".
func get(remote string, lines ...string) *view {
	r := &http.Request{Method: http.MethodGet, URL: new(url.URL), RemoteAddr: remote, Header: http.Header{}, ContentLength: -1}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return &view{request: r, peer: peer(remote)}
}

// peer reads a RemoteAddr, keeping zone and IPv4-mapped form.
func peer(remote string) netip.AddrPort {
	if p, err := netip.ParseAddrPort(remote); err == nil {
		return p
	}
	addr, _ := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(remote, "["), "]"))
	return netip.AddrPortFrom(addr, 0)
}

func (v *view) Context() context.Context { return v.request.Context() }
func (v *view) Peer() netip.AddrPort     { return v.peer }
func (v *view) Value(key any) any        { return v.request.Context().Value(key) }
func (v *view) Native() any              { return v.request }

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	switch what {
	case ratelimit.TextMethod:
		return v.request.Method, true
	case ratelimit.TextHost:
		return v.request.Host, v.request.Host != ""
	case ratelimit.TextRawQuery:
		return v.request.URL.RawQuery, v.request.URL.RawQuery != ""
	case ratelimit.TextPathValue:
		value := v.request.PathValue(name)
		return value, value != ""
	case ratelimit.TextRoute:
		return v.request.Pattern, v.request.Pattern != ""
	case ratelimit.TextHeader:
		if lines := v.request.Header[http.CanonicalHeaderKey(name)]; i < len(lines) {
			return lines[i], true
		}
	case ratelimit.TextContentLength:
		if n := v.request.ContentLength; n >= 0 {
			return strconv.FormatInt(n, 10), true
		}
	}
	return "", false
}

// none is what keyOf returns for ErrNoKey.
const none = "(no key)"

// keyOf returns the key that f gives v's request.
func keyOf(f ratelimit.KeyFunc, v ratelimit.View) string {
	key, err := f(nil, ratelimit.NewRequest(v))
	switch {
	case errors.Is(err, ratelimit.ErrNoKey):
		return none
	case err != nil:
		return "error: " + err.Error()
	}
	return string(key)
}

// panicOf returns the error that f panics with, or nil.
func panicOf(t *testing.T, f func()) (err error) {
	t.Helper()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			t.Fatalf("panic with %v, which is no error", p)
		}
	}()
	f()
	return nil
}
