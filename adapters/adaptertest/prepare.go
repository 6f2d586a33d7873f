package adaptertest

import (
	"net/http"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Prepare sets the headers with which a handler begins an answer: those that
// describe the body "ok".
func Prepare(set func(name, value string)) {
	set("Content-Length", "2")
	set("ETag", `"ok"`)
	set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
}

// Prepared calls [Prepare] before next, for frameworks whose middlewares are
// net/http's.
func Prepared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Prepare(w.Header().Set)
		next.ServeHTTP(w, r)
	})
}

// prepared: a denial takes the place of an answer that somebody had begun. Nothing
// is left of that, or a client would take its length for the denial's.
func prepared() []testCase {
	return []testCase{
		{name: "a denial replaces what the handler had prepared", run: handlerPrepares},
		{name: "a denial replaces what was prepared further out", run: outerPrepares},
	}
}

func handlerPrepares(s *suite) {
	route := Route{Pattern: "/", Handler: CheckHandler, Account: s.limits(forAll("api", ratelimit.PerMinute(1))), Prepare: true}
	s.replaced(App{Routes: []Route{route}})
}

func outerPrepares(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(1))))
	app.Prepare = true
	s.replaced(app)
}

// replaced has the app's only route answer as it prepared to, then deny.
func (s *suite) replaced(app App) {
	s.Helper()
	head := app.Routes[0]
	head.Method = http.MethodHead
	app.Routes = append(app.Routes, head)
	c := s.serve(app)

	admitted := c.get("/")
	if admitted.status != http.StatusOK || admitted.body != "ok" || admitted.header.Get("ETag") == "" {
		s.Errorf("admitted: %d %q %v", admitted.status, admitted.body, admitted.header)
	}
	denied := c.get("/")
	denied.is(http.StatusTooManyRequests, `{"error":"rate_limit_exceeded","retry_after":60}`, headers{
		"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "60", "Cache-Control": "no-store",
		"Content-Type": "application/json", "Content-Length": "48",
	})
	bodiless := c.do(http.MethodHead, "/")
	bodiless.denied()
	if length := bodiless.header.Get("Content-Length"); length != "" && length != "48" {
		s.Errorf("HEAD is told of %s bytes", length)
	}
	for _, a := range []*answer{denied, bodiless} {
		for _, name := range []string{"ETag", "Last-Modified"} {
			if got := a.header.Values(name); got != nil {
				s.Errorf("%s: the denial has the other answer's %s: %q", a.name, name, got)
			}
		}
	}
	c.get("/").denied() // the connection is still in step
}
