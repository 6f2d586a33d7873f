package ratelimit_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

func query(raw, name string) (string, bool) {
	return ratelimit.NewRequest(limittest.Request{RawQuery: raw}.View()).Query(name)
}

func TestQuery(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		ok        bool
	}{
		{"", "", false},
		{"key=abc", "abc", true},
		{"a=1&key=abc&b=2", "abc", true},
		{"key", "", true},
		{"key=", "", true},
		{"key=first&key=second", "first", true},
		{"key=a+b%20c%2B", "a b c+", true},
		{"%6bey=abc", "abc", true},
		{"k+ey=abc", "", false},
		{"key=%zz", "", false},
		{"key=%zz&key=fine", "fine", true},
		{"%zz=1&key=fine", "fine", true},
		{"key==abc", "=abc", true},
		{"Key=abc&keys=def", "", false},
		{"&&key=abc&&", "abc", true},
		{"=key", "", false},
	} {
		if got, ok := query(c.raw, "key"); got != c.want || ok != c.ok {
			t.Errorf("%q: %q, %v; want %q, %v", c.raw, got, ok, c.want, c.ok)
		}
		wantQuery(t, c.raw, "key")
	}
}

// wantQuery holds that net/url finds the same.
func wantQuery(t *testing.T, raw, name string) {
	t.Helper()
	got, ok := query(raw, name)
	values, _ := url.ParseQuery(raw) // what cannot be decoded is left out
	if has := values.Has(name); ok != has || got != values.Get(name) {
		t.Errorf("%q: of %q found is %q, %v; net/url finds %q", raw, name, got, ok, values[name])
	}
}

// A name is compared decoded, however it is spelled.
func TestQueryOfAnEscapedName(t *testing.T) {
	for _, name := range []string{"+", "%6bey", "a+b", "a b"} {
		wantQuery(t, name+"=1", name)
	}
}

// What net/url refuses is none: else a client could show the limiter one key and
// the app another.
func TestQueryIsTheOneOfNetURL(t *testing.T) {
	for _, raw := range []string{"key=a;b&key=abc", "key=a;b", "a=1;key=abc", ";key=abc", "k;ey=a&key=abc"} {
		wantQuery(t, raw, "key")
	}
	for _, raw := range []string{"", "&", "a=1&&b=2", "=x", "&=x", "="} {
		wantQuery(t, raw, "")
	}
}

// FuzzQuery holds that the query is read as net/url reads it.
func FuzzQuery(f *testing.F) {
	for _, raw := range []string{"a=1&key=abc", "key=%zz&key=x", "%6b%65y=+", "key", "=", "&key=%", "key=\x00\xff"} {
		f.Add(raw, "key")
	}
	f.Fuzz(wantQuery)
}

// wantCookie holds that net/http finds the same, which for most apps is what the
// request is: else a client could show the limiter one session and the app another.
func wantCookie(t *testing.T, line, name string) {
	t.Helper()
	r := http.Request{Header: http.Header{"Cookie": strings.Split(line, "\n")}}
	got, ok := ratelimit.NewRequest(limittest.Request{Header: r.Header}.View()).Cookie(name)
	want, err := r.Cookie(name)
	switch {
	case !ok && got != "":
		t.Errorf("%q: %q, and it is not there", line, got)
	case err == nil && ok && got != want.Value:
		t.Errorf("%q: of %q found is %q; net/http finds %q", line, name, got, want.Value)
	}
}

// A value that net/http passes over is passed over.
func TestCookieIsTheOneOfNetHTTP(t *testing.T) {
	for _, line := range []string{
		"session=\x00; session=abc",
		`session="; session=abc`,
		`session=a"b; session=abc`,
		`session=a\b; session=abc`,
		"session=\xff; session=abc",
		"session= abc",
		"session; session=abc",
	} {
		wantCookie(t, line, "session")
	}
}

// FuzzCookie holds that no line of cookies panics, and that net/http finds the same
// where both find one.
func FuzzCookie(f *testing.F) {
	for _, line := range []string{"session=abc", `a=1; session="a b"`, "session", ` session ="`, ";=;", "session=a,b\nsession=c"} {
		f.Add(line, "session")
	}
	f.Fuzz(wantCookie)
}
