package limittest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// answer is what a web app behind the limiter would answer; the adapters, which do
// that, cannot be imported here.
func answer(limits *ratelimit.Limiter) *http.Response {
	t := limits.Begin(limittest.Request{Method: "GET", Path: "/"}.View())
	defer t.End(0, nil)
	resp := &http.Response{StatusCode: max(t.Status(), http.StatusOK), Header: make(http.Header)}
	for i := 0; ; i++ {
		name, value, ok := t.HeaderAt(i)
		if !ok {
			return resp
		}
		resp.Header.Set(name, string(value))
	}
}

// failures is a testing.TB that notes what it is told.
type failures struct {
	testing.TB
	said []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

// stop is what Fatalf panics with, since it must not return.
type stop struct{}

func (f *failures) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(stop{})
}

// said returns what an assertion complains of.
func said(assert func(testing.TB)) (complaint string) {
	f := new(failures)
	defer func() {
		if v := recover(); v != nil && v != (stop{}) {
			panic(v)
		}
		complaint = strings.Join(f.said, "\n")
	}()
	assert(f)
	return ""
}

func response(status int, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: make(http.Header)}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		resp.Header.Add(name, value)
	}
	return resp
}

func TestAssertions(t *testing.T) {
	budget := []string{"X-RateLimit-Limit: 10", "X-RateLimit-Remaining: 3", "X-RateLimit-Reset: 60"}
	with := func(more ...string) []string { return append(append([]string(nil), budget...), more...) }
	allowed := func(r *http.Response) func(testing.TB) {
		return func(tb testing.TB) { limittest.AssertAllowed(tb, r) }
	}
	denied := func(r *http.Response, after time.Duration) func(testing.TB) {
		return func(tb testing.TB) { limittest.AssertDenied(tb, r, after) }
	}
	remaining := func(r *http.Response) func(testing.TB) {
		return func(tb testing.TB) { limittest.Remaining(tb, r) }
	}
	retryAfter := func(r *http.Response) func(testing.TB) {
		return func(tb testing.TB) { limittest.RetryAfter(tb, r) }
	}
	for _, c := range []struct {
		assert func(testing.TB)
		want   string // part of the complaint; "" where there is none
	}{
		{allowed(response(200, budget...)), ""},
		{allowed(response(200)), ""},
		{allowed(response(404, budget...)), ""},
		{allowed(response(429, with("Retry-After: 30")...)), `denied: status 429, X-RateLimit-Limit "10", X-RateLimit-Remaining "3", Retry-After "30"`},
		{allowed(response(200, with("Retry-After: 30")...)), `status 200 has Retry-After ["30"]`},
		{allowed(response(200, "X-RateLimit-Limit: 10", "X-RateLimit-Remaining: 11", "X-RateLimit-Reset: 1")), "X-RateLimit-Remaining 11; want 0 to the limit, 10"},
		{allowed(response(200, "X-RateLimit-Limit: 10", "X-RateLimit-Remaining: -1", "X-RateLimit-Reset: 1")), "X-RateLimit-Remaining -1"},
		{allowed(response(200, with("X-RateLimit-Limit: 10")...)), `X-RateLimit-Limit ["10" "10"]; want one line`},
		{allowed(response(200, "X-RateLimit-Limit: 10", "X-RateLimit-Remaining: 1")), "X-RateLimit-Reset []; want one line"},
		{allowed(response(200, "X-RateLimit-Limit: ten", "X-RateLimit-Remaining: 1")), `X-RateLimit-Limit "ten"; want a whole number`},

		{denied(response(429, with("Retry-After: 30", "Cache-Control: no-store")...), 30*time.Second), ""},
		{denied(response(429, with("Retry-After: 30", "Cache-Control: no-store")...), 29*time.Second+1), ""},
		{denied(response(429, with("Cache-Control: no-store")...), ratelimit.Never), ""},
		{denied(response(429, with("Retry-After: 1", "Cache-Control: no-store")...), 0), ""},
		{denied(response(200, budget...), time.Second), `status 200, X-RateLimit-Limit "10"`},
		{denied(response(429, with("Retry-After: 30", "Cache-Control: no-store")...), time.Minute), `Retry-After ["30"]; want ["60"]`},
		{denied(response(429, with("Retry-After: 30", "Cache-Control: no-store")...), ratelimit.Never), `Retry-After ["30"]; want []`},
		{denied(response(429, with("Cache-Control: no-store")...), time.Second), `Retry-After []; want ["1"]`},
		{denied(response(429, with("Retry-After: 30")...), 30*time.Second), `Cache-Control ""`},
		{denied(response(429, with("Retry-After: 30", "Retry-After: 30", "Cache-Control: no-store")...), 30*time.Second), `Retry-After ["30" "30"]`},

		{remaining(response(200, budget...)), ""},
		{remaining(response(200)), "X-RateLimit-Remaining []; want one line"},
		{retryAfter(response(429, "Retry-After: 30")), ""},
		{retryAfter(response(429, "Retry-After: 0")), `Retry-After "0"; want whole seconds, at least 1`},
		{retryAfter(response(429, "Retry-After: 1.5")), `Retry-After "1.5"`},
		{retryAfter(response(429, "Retry-After: Thu, 01 Jan 2026 00:00:00 GMT")), "want whole seconds"},
		{retryAfter(response(200)), `status 200, Retry-After ""`},
	} {
		if got := said(c.assert); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("complaint %q, want one with %q", got, c.want)
		}
	}
	if got := limittest.Remaining(t, response(200, budget...)); got != 3 {
		t.Errorf("remaining %d, want 3", got)
	}
	if got := limittest.RetryAfter(t, response(429, "Retry-After: 30")); got != 30*time.Second {
		t.Errorf("retry after %v, want 30s", got)
	}
}
