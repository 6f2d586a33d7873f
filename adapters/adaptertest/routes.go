package adaptertest

import (
	"net/http"
	"strconv"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// routes: what a request's path and method change, and what they must not.
func routes() []testCase {
	return []testCase{
		{name: "404 and 405 are counted", run: notFound},
		{name: "HEAD and OPTIONS are counted apart from no one", run: otherMethods},
		{name: "no spelling of a path escapes its limit", run: spellings},
		{name: "a slash too many is counted", needs: CountSlashes, run: slashTooMany},
		{name: "an encoded path value is the same value", run: encodedValue},
	}
}

func notFound(s *suite) {
	c := s.serve(one(s.limits(forAll("api", ratelimit.PerMinute(5)))))

	missing := c.get("/missing")
	if missing.status != http.StatusNotFound || missing.header.Get("X-RateLimit-Remaining") != "4" {
		s.Errorf("an unknown path: %d telling\n%s", missing.status, missing.told())
	}
	wrong := c.do(http.MethodDelete, "/")
	if wrong.status != http.StatusMethodNotAllowed || wrong.header.Get("X-RateLimit-Remaining") != "3" {
		s.Errorf("a wrong method: %d telling\n%s", wrong.status, wrong.told())
	}
	c.get("/").left(2)
	for range 2 {
		c.get("/missing")
	}
	c.get("/missing").denied() // in place of the 404
	c.do(http.MethodDelete, "/").denied()
}

func otherMethods(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(4))))
	for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPut} {
		app.Routes = append(app.Routes, Route{Method: method, Pattern: "/"})
	}
	c := s.serve(app)

	c.do(http.MethodHead, "/").left(3)
	c.do(http.MethodOptions, "/").left(2)
	c.do(http.MethodPut, "/").left(1)
	c.get("/").left(0)
	for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodGet} {
		c.do(method, "/").denied()
	}
}

// Frameworks differ in what "/LOGIN" and "//login" are to them. Where it is the
// handler's route, directly or by a redirect, the route's limit holds.
func spellings(s *suite) {
	byRoute := ratelimit.Policy{Name: "route", Limit: ratelimit.PerMinute(2), Key: keyfuncs.Route}
	c := s.serve(App{Routes: []Route{{
		Pattern: "/login", Use: []Middleware{{Limiter: s.limits(byRoute)}}, Enter: func() { s.ran.Add(1) },
	}}})
	for left := range 2 {
		c.get("/login").left(1 - left)
	}
	for _, path := range []string{
		"/login?", "/login?x=1", "/login/", "/login//", "//login", "/./login", "/x/../login", "/login/.", "/login/x/..",
		"/LOGIN", "/Login", "/LOGIN/", "/%6Cogin", "/%6cogin", "/login%2F", "/%2Flogin", "/login;x=1", "/login%20", "/login%00",
	} {
		if a := c.get(path); a.status < 400 {
			s.Errorf("%s: answered %d", path, a.status)
		}
	}
	if n := s.ran.Load(); n != 2 {
		s.Errorf("the handler ran %d times, want 2", n)
	}
}

func slashTooMany(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(3))))
	app.Routes = append(app.Routes, Route{Pattern: "/here"})
	c := s.serve(app)
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	for i, path := range []string{"/here/", "/here", "/HERE/"} {
		if a := c.get(path); a.header.Get("X-RateLimit-Remaining") != strconv.Itoa(2-i) {
			s.Errorf("%s: %d telling\n%s\nwant %d left", path, a.status, a.told(), 2-i)
		}
	}
	c.get("/here/").denied()
}

func encodedValue(s *suite) {
	byUser := ratelimit.Policy{
		Name: "user", Limit: ratelimit.PerMinute(3),
		Key: keyfuncs.Func(func(r ratelimit.Request) string { return r.PathValue("id") }),
	}
	c := s.serve(App{Routes: []Route{{Pattern: "/users/{id}", Use: []Middleware{{Limiter: s.limits(byUser)}}}}})

	c.get("/users/ann").left(2)
	c.get("/users/%61nn").left(1)
	c.get("/users/%61%6e%6E").left(0)
	c.get("/users/ann").denied()
	c.get("/users/bob").left(2)
	c.get("/users/100%25").left(2)
	c.get("/users/%3100%25").left(1)
}
