package adaptertest

import (
	"net/http"
	"slices"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// nesting: several policies, several middlewares, limits of groups and routes.
func nesting() []testCase {
	return []testCase{
		{name: "several policies, all or nothing", run: severalPolicies},
		{name: "the stricter of two middlewares is told", run: stricterIsTold},
		{name: "a limit by route and one by path value", run: byRouteAndValue},
		{name: "routes with limits of their own", run: routesOfTheirOwn},
		{name: "groups", run: groups},
		{name: "groups within groups", run: nestedGroups},
		{name: "a middleware that stands twice on the way is said", run: standsTwice},
	}
}

func severalPolicies(s *suite) {
	c := s.serve(one(s.limits(
		forAll("minute", ratelimit.PerMinute(3)),
		byKey("key", ratelimit.PerMinute(1)),
	)))
	c.get("/", "X-Api-Key: a").is(http.StatusOK, "ok", headers{ // "key" has the smaller share left
		"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
	})
	for range 5 {
		c.get("/", "X-Api-Key: a").denied() // takes nothing from "minute"
	}
	c.get("/", "X-Api-Key: b").left(0)
	c.get("/", "X-Api-Key: c").left(0)
	d := c.get("/", "X-Api-Key: d")
	d.denied()
	if d.header.Get("X-RateLimit-Limit") != "3" {
		s.Errorf("the denying policy is not told:\n%s", d.told())
	}
}

func stricterIsTold(s *suite) {
	for _, limits := range [][2]int64{{10, 2}, {2, 10}} {
		outer := s.limits(forAll("outer", ratelimit.PerMinute(limits[0])))
		inner := s.limits(forAll("inner", ratelimit.PerHour(limits[1])))
		c := s.serve(App{
			Use:    []Middleware{{Limiter: outer}, {Limiter: inner}},
			Routes: []Route{{Pattern: "/"}, {Pattern: "/fails", Handler: ErrorHandler}},
		})
		for left := range 2 {
			a := c.get("/")
			a.left(1 - left)
			if got := a.header.Get("X-RateLimit-Limit"); got != "2" {
				s.Errorf("outer %d, inner %d: the limit told is %s", limits[0], limits[1], got)
			}
		}
		c.get("/fails").denied()
	}
}

func byRouteAndValue(s *suite) {
	user := ratelimit.Policy{
		Name: "user", Limit: ratelimit.PerMinute(2),
		Key: keyfuncs.Func(func(r ratelimit.Request) string { return r.PathValue("id") }),
	}
	route := ratelimit.Policy{Name: "route", Limit: ratelimit.PerMinute(4), Key: keyfuncs.Route}
	limiter := s.limits(user, route)
	c := s.serve(App{Routes: []Route{
		{Pattern: "/users/{id}", Use: []Middleware{{Limiter: limiter}}},
		{Pattern: "/teams/{id}", Use: []Middleware{{Limiter: limiter}}},
	}})
	c.get("/users/1").left(1)
	c.get("/teams/1").left(0) // the same value
	c.get("/users/1").denied()
	c.get("/users/2").left(1)
	c.get("/users/2").left(0)
	c.get("/users/3").left(0) // the route's fourth
	c.get("/users/4").denied()
	c.get("/teams/4").left(1) // another route
}

func routesOfTheirOwn(s *suite) {
	limits := s.limits(forAll("api", ratelimit.PerMinute(10)))
	login := limits.With(forAll("login", ratelimit.PerMinute(2)))
	search := limits.With(forAll("search", ratelimit.PerMinute(2)))
	c := s.serve(App{
		Use: []Middleware{{Limiter: limits}},
		Routes: []Route{
			{Pattern: "/"},
			{Method: http.MethodPost, Pattern: "/login", Use: []Middleware{{Limiter: login}}},
			{Method: http.MethodPost, Pattern: "/token", Use: []Middleware{{Limiter: login}}},
			{Pattern: "/search", Use: []Middleware{{Limiter: search}}},
		},
	})
	c.do(http.MethodPost, "/login").left(1)
	c.do(http.MethodPost, "/token").left(0) // one limiter, shared
	c.do(http.MethodPost, "/login").denied()
	c.get("/search").left(1)
	c.get("/").left(5) // an inner denial leaves the outer charge
}

func groups(s *suite) {
	limits := s.limits(forAll("all", ratelimit.PerMinute(100)))
	api := limits.With(forAll("api", ratelimit.PerMinute(3)))
	route := limits.With(ratelimit.Policy{Name: "route", Limit: ratelimit.PerMinute(2), Key: keyfuncs.Route})
	c := s.serve(App{
		Use: []Middleware{{Limiter: limits}},
		Groups: []Group{{
			Prefix: "/api", Use: []Middleware{{Limiter: api}},
			Routes: []Route{
				{Pattern: "/users/{id}", Use: []Middleware{{Limiter: route}}},
				{Pattern: "/status"},
			},
		}},
		Routes: []Route{{Pattern: "/api-docs"}},
	})
	c.get("/api/users/1").left(1)
	c.get("/api-docs").left(98)
	c.get("/api/users/2").left(0)
	c.get("/api/users/3").denied()
	c.get("/api/status").denied() // the group's three went with the users
}

// Each request meets what stands around it, from the outside in, and nothing else.
func nestedGroups(s *suite) {
	limits := s.limits(forAll("all", ratelimit.PerMinute(100)))
	with := func(name string, n int64) []Middleware {
		return []Middleware{{Limiter: limits.With(forAll(name, ratelimit.PerMinute(n)))}}
	}
	c := s.serve(App{
		Use: []Middleware{{Limiter: limits}},
		Groups: []Group{
			{
				Prefix: "/v1", Use: with("v1", 6), Routes: []Route{{Pattern: "/status"}},
				Groups: []Group{
					{
						Prefix: "/admin", Use: with("admin", 3),
						Routes: []Route{{Pattern: "/users/{id}", Use: with("users", 2)}, {Pattern: "/logs"}},
					},
					{Prefix: "/open", Routes: []Route{{Pattern: "/docs"}}},
				},
			},
			{Prefix: "/v2", Use: with("v2", 5), Routes: []Route{{Pattern: "/status"}}},
		},
		Routes: []Route{{Pattern: "/"}},
	})
	c.get("/v1/admin/users/1").left(1)
	c.get("/v1/admin/users/2").left(0)
	c.get("/v1/admin/users/3").denied() // admin's third goes with it
	c.get("/v1/admin/logs").denied()
	c.get("/v1/open/docs").left(1)
	c.get("/v1/status").left(0)
	c.get("/v1/open/docs").denied()
	c.get("/v2/status").left(4)
	c.get("/").left(91)
}

func standsTwice(s *suite) {
	limits := s.limits(forAll("api", ratelimit.PerMinute(100)))
	inner := limits.With(forAll("inner", ratelimit.PerMinute(50)))
	c := s.serve(App{
		Use: []Middleware{{Limiter: limits}},
		Routes: []Route{
			{Pattern: "/fine", Use: []Middleware{{Limiter: inner}}},
			{Pattern: "/twice", Use: []Middleware{{Limiter: inner}, {Limiter: limits}}},
		},
	})
	for range 5 {
		c.get("/fine")
	}
	if got := s.codes.all(); len(got) > 0 {
		s.Errorf("of different limiters: said %q", got)
	}
	for range 5 {
		c.get("/twice")
	}
	if got := s.codes.all(); !slices.Equal(got, []ratelimit.Code{ratelimit.CodeDoubled}) {
		s.Errorf("said of the set-up: %q, want %q once", got, ratelimit.CodeDoubled)
	}
}
