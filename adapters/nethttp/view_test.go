package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestPeer(t *testing.T) {
	for remoteAddr, want := range map[string]string{
		"203.0.113.7:51514":          "203.0.113.7:51514",
		"[2001:db8::9]:443":          "[2001:db8::9]:443",
		"[fe80::1%eth0]:5000":        "[fe80::1%eth0]:5000",
		"[::ffff:203.0.113.7]:40000": "[::ffff:203.0.113.7]:40000",
		"203.0.113.7":                "203.0.113.7:0", // rewritten by a middleware
		"2001:db8::9":                "[2001:db8::9]:0",
		"[2001:db8::9]":              "[2001:db8::9]:0",
		"":                           "",
		"@":                          "",
		"pipe":                       "",
		"/run/app.sock":              "",
		"[]":                         "",
		"203.0.113.7:port":           "",
		"example.test:80":            "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remoteAddr
		var expected netip.AddrPort
		if want != "" {
			expected = netip.MustParseAddrPort(want)
		}
		if got := httplimit.View(r).Peer(); got != expected {
			t.Errorf("RemoteAddr %q: peer %v, want %v", remoteAddr, got, expected)
		}
	}
}

func TestRoute(t *testing.T) {
	for pattern, want := range map[string]string{
		"GET /users/{id}":            "/users/{id}",
		"/users/{id}":                "/users/{id}",
		"POST  \t/login":             "/login",
		"GET api.test/v1/{path...}":  "api.test/v1/{path...}",
		"api.test/":                  "api.test/",
		"OPTIONS /a/{x}/b c":         "/a/{x}/b c",
		"GET /{$}":                   "/{$}",
		"":                           "",
		"PROPFIND /files/{name}/raw": "/files/{name}/raw",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Pattern = pattern
		if got := ratelimit.NewRequest(httplimit.View(r)).Route(); got != want {
			t.Errorf("pattern %q: route %q, want %q", pattern, got, want)
		}
	}
}

func TestHeaderHost(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "http://api.test:81/", nil)
	request := ratelimit.NewRequest(httplimit.View(r))
	if got := request.Header("host"); got != "api.test:81" {
		t.Errorf("header host: %q, want the request's", got)
	}
	if got, ok := request.HeaderLine("Host", 1); ok {
		t.Errorf("a second line of Host: %q", got)
	}
}

func TestContentLength(t *testing.T) {
	for _, c := range []struct {
		header string
		length int64
		want   int64
		known  bool
	}{
		{"", 0, 0, true},
		{"", -1, 0, false},
		{"5", 5, 5, true},
		{"", 1 << 40, 1 << 40, true},
		{"5", 12345, 12345, true}, // a middleware replaced the body
		{"5", -1, 0, false},
		{"much", 7, 7, true},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(""))
		r.ContentLength = c.length
		if c.header != "" {
			r.Header.Set("Content-Length", c.header)
		}
		got, known := ratelimit.NewRequest(httplimit.View(r)).ContentLength()
		if known != c.known || known && got != c.want {
			t.Errorf("header %q, length %d: got %d, %t", c.header, c.length, got, known)
		}
	}
}

func TestNativeAndValue(t *testing.T) {
	type key struct{}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	view := httplimit.View(r)
	if view.Native() != any(r) {
		t.Errorf("native is %T, want the request", view.Native())
	}
	if got := view.Value(key{}); got != nil {
		t.Errorf("value %v, want none", got)
	}
	if _, ok := view.Text(ratelimit.Text(250), "", 0); ok {
		t.Error("a kind of text that nobody knows is there")
	}
}
