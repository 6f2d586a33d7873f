package ratelimit_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// A request tells what its view shows.
func TestRequest(t *testing.T) {
	type key struct{}
	native := new(http.Request)
	r := ratelimit.NewRequest(limittest.Request{
		Peer: "203.0.113.7:1234", Method: "POST", Host: "example.com:8080", Path: "/users/7", Route: "/users/{id}", RawQuery: "a=1&b=2",
		Header: http.Header{"X-Key": {"one", "two"}}, PathValues: map[string]string{"id": "7"}, ContentLength: 42,
		Values: map[any]any{key{}: "stored"}, Native: native, Context: context.WithValue(t.Context(), key{}, "context"),
	}.View())
	for name, c := range map[string]struct{ got, want any }{
		"Peer":              {r.Peer(), netip.MustParseAddrPort("203.0.113.7:1234")},
		"Method":            {r.Method(), "POST"},
		"Host":              {r.Host(), "example.com:8080"},
		"Path":              {r.Path(), "/users/7"},
		"Route":             {r.Route(), "/users/{id}"},
		"RawQuery":          {r.RawQuery(), "a=1&b=2"},
		"Header":            {r.Header("x-key"), "one"},
		"Header, none":      {r.Header("X-None"), ""},
		"PathValue":         {r.PathValue("id"), "7"},
		"PathValue, none":   {r.PathValue("none"), ""},
		"Value":             {r.Value(key{}), "stored"},
		"Native":            {r.Native(), native},
		"Context":           {r.Context().Value(key{}), "context"},
		"of nothing, Peer":  {ratelimit.NewRequest(limittest.Request{}.View()).Peer().IsValid(), false},
		"of nothing, Route": {ratelimit.NewRequest(limittest.Request{}.View()).Route(), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	for i, want := range []string{"one", "two", ""} {
		if got, ok := r.HeaderLine("X-Key", i); got != want || ok != (want != "") {
			t.Errorf("line %d: %q, %v; want %q", i, got, ok, want)
		}
	}
}

// lengths is a view of a request with a Content-Length of any text.
type lengths struct {
	ratelimit.View
	text string
}

func (v lengths) Text(what ratelimit.Text, _ string, _ int) (string, bool) {
	return v.text, what == ratelimit.TextContentLength && v.text != ""
}

func TestContentLength(t *testing.T) {
	for text, want := range map[string]int64{
		"": -1, "0": 0, "42": 42, "9223372036854775807": 1<<63 - 1, "9223372036854775808": -1, "-1": -1, "many": -1, "1.5": -1, "4 2": -1,
	} {
		n, ok := ratelimit.NewRequest(lengths{text: text}).ContentLength()
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
}

// The size of a body that is not known is asked for as cheaply as one that is.
func TestContentLengthDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"", "42"} {
		r := ratelimit.NewRequest(&lengths{text: text})
		if n := testing.AllocsPerRun(100, func() { r.ContentLength() }); n != 0 {
			t.Errorf("%q: %v allocations, want none", text, n)
		}
	}
}

func TestCookie(t *testing.T) {
	for _, c := range []struct {
		lines string // by newline
		want  string
		ok    bool
	}{
		{"", "", false},
		{"session=abc", "abc", true},
		{"a=1; session=abc; b=2", "abc", true},
		{"a=1;session=abc", "abc", true},
		{"session=", "", true},
		{`session="abc"`, "abc", true},
		{`session=""`, "", true},
		{"session=a=b", "a=b", true},
		{"session=first; session=second", "first", true},
		{"a=1\nsession=abc", "abc", true},
		{"a=1\nb=2", "", false},
		{"Session=abc", "", false},
		{"xsession=abc; sessionx=def", "", false},
		{"a=session=abc", "", false},
		{" session =abc ;", "abc", true},
		{";;;=;session=abc", "abc", true},
	} {
		h := make(http.Header)
		if c.lines != "" {
			h["Cookie"] = strings.Split(c.lines, "\n")
		}
		got, ok := ratelimit.NewRequest(limittest.Request{Header: h}.View()).Cookie("session")
		if got != c.want || ok != c.ok {
			t.Errorf("%q: %q, %v; want %q, %v", c.lines, got, ok, c.want, c.ok)
		}
	}
}
