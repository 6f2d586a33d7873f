package limittest

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Request is a request for tests of key and cost functions. Fill in what the
// function looks at; what is left out the request does not have.
//
//	key, err := limittest.Key(keyfuncs.Header("X-Tenant"), limittest.Request{
//		Header: http.Header{"X-Tenant": {"acme"}},
//	})
type Request struct {
	Peer          string // "203.0.113.7:1234" or an address alone; "" as on a unix socket
	Method        string
	Host          string
	Path          string
	Route         string
	RawQuery      string
	Header        http.Header // under canonical names
	PathValues    map[string]string
	ContentLength int64 // negative: not known
	Values        map[any]any
	Native        any
	Context       context.Context // nil: the background context
}

// View returns the request as an adapter would show it. It panics on a Peer that
// is no address.
func (r Request) View() ratelimit.View {
	v := &view{request: r}
	if r.Peer != "" {
		v.peer = parsePeer(r.Peer)
	}
	return v
}

// Key calls f on the request and returns the key as a string.
func Key(f ratelimit.KeyFunc, r Request) (string, error) {
	key, err := f(nil, ratelimit.NewRequest(r.View()))
	return string(key), err
}

// Cost calls f on the request.
func Cost(f ratelimit.CostFunc, r Request) (int64, error) {
	return f(ratelimit.NewRequest(r.View()))
}

func parsePeer(s string) netip.AddrPort {
	if peer, err := netip.ParseAddrPort(s); err == nil {
		return peer
	}
	return netip.AddrPortFrom(netip.MustParseAddr(s), 0)
}

type view struct {
	request Request
	peer    netip.AddrPort
}

func (v *view) Context() context.Context {
	if v.request.Context == nil {
		return context.Background()
	}
	return v.request.Context
}

func (v *view) Peer() netip.AddrPort { return v.peer }
func (v *view) Native() any          { return v.request.Native }

// Value looks in Values, then in the context.
func (v *view) Value(key any) any {
	if value, ok := v.request.Values[key]; ok {
		return value
	}
	return v.Context().Value(key)
}

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	r := &v.request
	switch what {
	case ratelimit.TextMethod:
		return some(r.Method)
	case ratelimit.TextHost:
		return some(r.Host)
	case ratelimit.TextPath:
		return some(r.Path)
	case ratelimit.TextRoute:
		return some(r.Route)
	case ratelimit.TextRawQuery:
		return some(r.RawQuery)
	case ratelimit.TextHeader:
		if lines := r.Header.Values(name); i < len(lines) {
			return lines[i], true
		}
		return "", false
	case ratelimit.TextPathValue:
		value, ok := r.PathValues[name]
		return value, ok
	case ratelimit.TextContentLength:
		if r.ContentLength < 0 {
			return "", false
		}
		return strconv.FormatInt(r.ContentLength, 10), true
	default:
		return "", false
	}
}

func some(s string) (string, bool) { return s, s != "" }
