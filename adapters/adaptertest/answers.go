package adaptertest

import (
	"net/http"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// answers: what a client is told, to the byte. The clock stands at its first second,
// 1767225600, unless moved.
func answers() []testCase {
	return []testCase{
		{name: "allowed, then denied", run: allowedThenDenied},
		{name: "the one-liner", run: oneLiner},
		{name: "HEAD has no body", run: headHasNoBody},
		{name: "preflights are not counted", run: preflights},
		{name: "never", run: never},
		{name: "problem and text", run: answerStyles},
		{name: "drafts", run: drafts},
		{name: "Skip", run: skip},
		{name: "Denied", run: deniedOption},
		{name: "Deny in a handler", run: denyInHandler},
	}
}

func allowedThenDenied(s *suite) {
	c := s.serve(one(s.limits(forAll("api", ratelimit.PerMinute(2)))))

	c.get("/").is(http.StatusOK, "ok", headers{
		"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "1", "X-Ratelimit-Reset": "1767225630",
	})
	c.get("/").is(http.StatusOK, "ok", headers{
		"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
	})
	s.clock.Advance(100 * time.Millisecond)
	c.get("/").is(http.StatusTooManyRequests, `{"error":"rate_limit_exceeded","retry_after":30}`, headers{
		"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "30", "Cache-Control": "no-store",
		"Content-Type": "application/json", "Content-Length": "48",
	})
	s.clock.Advance(29 * time.Second)
	c.get("/").denied() // a second too early
	s.clock.Advance(time.Second)
	c.get("/").left(0)
}

func oneLiner(s *suite) {
	c := s.serve(App{
		Use:    []Middleware{{Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP()}},
		Routes: []Route{{Pattern: "/"}},
	})
	c.get("/").left(0)
	c.get("/").denied()
}

func headHasNoBody(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(1))))
	app.Routes = append(app.Routes, Route{Method: http.MethodHead, Pattern: "/"})
	c := s.serve(app)

	c.do(http.MethodHead, "/").left(0)
	head := c.do(http.MethodHead, "/")
	delete(head.header, "Content-Length") // a server may tell the length of the body that it leaves out
	head.is(http.StatusTooManyRequests, "", headers{
		"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "60", "Cache-Control": "no-store", "Content-Type": "application/json",
	})
	c.get("/").denied() // the connection is still in step
}

func preflights(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(3))))
	app.Routes = append(app.Routes, Route{Method: http.MethodOptions, Pattern: "/"})
	c := s.serve(app)

	for range 5 {
		c.do(http.MethodOptions, "/", "Origin: https://other.test", "Access-Control-Request-Method: POST").untold(http.StatusOK)
	}
	c.do(http.MethodOptions, "/").left(2) // not preflights: counted
	c.do(http.MethodOptions, "/", "Access-Control-Request-Method: POST").left(1)
	c.get("/", "Origin: https://other.test", "Access-Control-Request-Method: POST").left(0)
}

func never(s *suite) {
	dear := forAll("api", ratelimit.PerMinute(2))
	dear.Cost = keyfuncs.Fixed(3)
	c := s.serve(one(s.limits(dear)))

	c.get("/").is(http.StatusTooManyRequests, `{"error":"rate_limit_exceeded"}`, headers{
		"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "2", "X-Ratelimit-Reset": "1767225600",
		"Cache-Control": "no-store", "Content-Type": "application/json", "Content-Length": "31",
	})
}

func answerStyles(s *suite) {
	for style, contentType := range map[ratelimit.AnswerStyle]string{
		ratelimit.AnswerProblem: "application/problem+json",
		ratelimit.AnswerText:    "text/plain; charset=utf-8",
	} {
		c := s.serve(one(s.configured(ratelimit.Config{
			Answer: style, Policies: []ratelimit.Policy{forAll("api", ratelimit.PerMinute(1))},
		})))
		c.get("/").left(0)
		a := c.get("/")
		a.denied()
		if got := a.header.Get("Content-Type"); got != contentType || a.body == "" {
			s.Errorf("style %d: %q %q, want %q", style, got, a.body, contentType)
		}
	}
}

func drafts(s *suite) {
	c := s.serve(one(s.configured(ratelimit.Config{
		Headers:  ratelimit.HeaderStyle{Draft: ratelimit.Draft11},
		Policies: []ratelimit.Policy{forAll("burst", ratelimit.PerMinute(2)), forAll("daily", ratelimit.PerDay(100))},
	})))
	c.get("/").is(http.StatusOK, "ok", headers{
		"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "1", "X-Ratelimit-Reset": "1767225630",
		"Ratelimit-Policy": `"burst";q=2;w=60, "daily";q=100;w=86400`,
		"Ratelimit":        `"burst";r=1;t=30, "daily";r=99;t=864`,
	})
}

func skip(s *suite) {
	c := s.serve(App{
		Use:    []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(2))), SkipPath: "/health"}},
		Routes: []Route{{Pattern: "/"}, {Pattern: "/health"}},
	})
	for range 5 {
		c.get("/health").untold(http.StatusOK)
	}
	c.get("/").left(1)
}

func deniedOption(s *suite) {
	c := s.serve(App{
		Use:    []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(1))), DeniedText: "slow down:"}},
		Routes: []Route{{Pattern: "/"}},
	})
	c.get("/").left(0)
	a := c.get("/")
	delete(a.header, "Content-Type") // the app's own
	a.is(http.StatusTooManyRequests, "slow down: api", headers{
		"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "60", "Cache-Control": "no-store", "Content-Length": "14",
	})
}

func denyInHandler(s *suite) {
	outer := s.limits(forAll("api", ratelimit.PerMinute(10)))
	account := outer.With(forAll("account", ratelimit.PerMinute(1)))
	c := s.serve(App{
		Use:    []Middleware{{Limiter: outer}},
		Routes: []Route{{Pattern: "/", Handler: CheckHandler, Account: account}},
	})
	c.get("/", "X-Account: ann").left(9)
	c.get("/", "X-Account: ann").is(http.StatusTooManyRequests, `{"error":"rate_limit_exceeded","retry_after":60}`, headers{
		"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "60", "Cache-Control": "no-store",
		"Content-Type": "application/json", "Content-Length": "48",
	})
	c.get("/", "X-Account: bob").left(7)
}
