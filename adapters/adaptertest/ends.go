package adaptertest

import (
	"errors"
	"net/http"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// ends: an observer that asks is told how each request ended, once.
func ends() []testCase {
	all := []testCase{
		{name: "a handler's end is told", run: handlerEnds},
		{name: "a failing handler's end is told", run: failureEnds},
		{name: "the end of an answer in parts is told", run: streamEnds},
		{name: "the end after 103 is told", needs: EarlyHints, run: hintsEnd},
		{name: "the end of a hijacked connection is told", needs: Hijack, run: hijackEnds},
		{name: "the end of the limiter's own answers is told", run: ownEnds},
		{name: "the end of a denial for the error handler is told", needs: HandErrors, run: handedEnds},
		{name: "nothing is told of skipped requests", run: skippedEnds},
		{name: "each of nested limiters is told", run: nestedEnds},
		{name: "the end over HTTP/2 is told", needs: HTTP2, run: http2Ends},
	}
	for i, c := range all {
		all[i].run = func(s *suite) {
			s.watch()
			s.Cleanup(s.untoldEnds) // the server stops before
			c.run(s)
		}
	}
	return all
}

func handlerEnds(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(100))))
	app.Routes = append(
		app.Routes,
		Route{Method: http.MethodHead, Pattern: "/"},
		Route{Pattern: "/nothing", Handler: StatusHandler},
		Route{Pattern: "/created", Handler: StatusHandler, Status: http.StatusCreated},
		Route{Pattern: "/teapot", Handler: StatusHandler, Status: http.StatusTeapot},
		Route{Pattern: "/broken", Handler: StatusHandler, Status: http.StatusServiceUnavailable},
	)
	c := s.serve(app)

	for _, request := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/", http.StatusOK},
		{http.MethodHead, "/", http.StatusOK},
		{http.MethodGet, "/nothing", http.StatusOK},
		{http.MethodGet, "/created", http.StatusCreated},
		{http.MethodGet, "/teapot", http.StatusTeapot},
		{http.MethodGet, "/broken", http.StatusServiceUnavailable},
	} {
		if err := s.answered(c.do(request.method, request.path), request.status); err != nil {
			s.Errorf("%s: told %v", request.path, err)
		}
	}
	s.answered(c.get("/missing"), http.StatusNotFound) // an error, to some frameworks
	s.answered(c.do(http.MethodDelete, "/"), http.StatusMethodNotAllowed)
}

func failureEnds(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(100))))
	app.Recover = true
	app.Routes = append(
		app.Routes,
		Route{Pattern: "/fails", Handler: ErrorHandler},
		Route{Pattern: "/coded", Handler: CodedHandler, Status: http.StatusTeapot},
		Route{Pattern: "/panics", Handler: PanicHandler},
	)
	c := s.serve(app)

	for path, status := range map[string]int{"/fails": http.StatusInternalServerError, "/coded": http.StatusTeapot} {
		if err := s.answered(c.get(path), status); (err != nil) != s.adapter.Errors {
			s.Errorf("%s: told the error %v, want one: %t", path, err, s.adapter.Errors)
		}
	}
	if err := s.answered(c.get("/panics"), http.StatusInternalServerError); err != nil {
		s.Errorf("a panic: told %v", err)
	}
	s.answered(c.get("/"), http.StatusOK)
}

func streamEnds(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(100))))
	app.Routes = append(app.Routes, Route{Pattern: "/stream", Handler: StreamHandler, Pause: func() {}})
	s.answered(s.serve(app).get("/stream"), http.StatusOK)
}

func hintsEnd(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(100))))
	app.Routes = append(app.Routes, Route{Pattern: "/hints", Handler: HintsHandler})
	s.answered(s.serve(app).get("/hints"), http.StatusOK)
}

func hijackEnds(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(100))))
	app.Routes = append(app.Routes, Route{Pattern: "/hijack", Handler: HijackHandler})
	s.ended(s.serve(app).get("/hijack"), ratelimit.Allowed, 0)
}

func ownEnds(s *suite) {
	broken := forAll("broken", ratelimit.PerMinute(1))
	broken.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return dst, errors.New(leak) }
	down := func(mode ratelimit.FailureMode) []Middleware {
		return []Middleware{{Limiter: s.configured(ratelimit.Config{
			Store: limittest.Fail(errors.New(leak)), Policies: []ratelimit.Policy{forAll("down", ratelimit.PerMinute(1))},
			OnFailure: mode,
		})}}
	}
	denied := forAll("denied", ratelimit.PerMinute(1))
	denied.Cost = func(ratelimit.Request) (int64, error) { return 2, nil }
	c := s.serve(App{Routes: []Route{
		{Pattern: "/denied", Use: []Middleware{{Limiter: s.limits(denied)}}},
		{Pattern: "/polite", Use: []Middleware{{Limiter: s.limits(denied), DeniedText: "slow down:"}}},
		{Pattern: "/broken", Use: []Middleware{{Limiter: s.limits(broken)}}},
		{Pattern: "/closed", Use: down(ratelimit.FailClosed)},
		{Pattern: "/open", Use: down(ratelimit.FailOpen), Handler: StatusHandler, Status: http.StatusTeapot},
	}})
	for _, end := range []struct {
		path    string
		outcome ratelimit.Outcome
		status  int
	}{
		{"/denied", ratelimit.Denied, http.StatusTooManyRequests},
		{"/polite", ratelimit.Denied, http.StatusTooManyRequests},
		{"/broken", ratelimit.Errored, http.StatusInternalServerError},
		{"/closed", ratelimit.Unavailable, http.StatusServiceUnavailable},
		{"/open", ratelimit.Unavailable, http.StatusTeapot},
	} {
		a := c.get(end.path)
		if a.status != end.status {
			s.Errorf("%s: answered %d, want %d", end.path, a.status, end.status)
		}
		if err := s.ended(a, end.outcome, end.status); err != nil {
			s.Errorf("%s: told %v", end.path, err)
		}
	}
}

func handedEnds(s *suite) {
	c := s.serve(App{
		Errors: "sorry",
		Use:    []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(1))), HandErrors: true}},
		Routes: []Route{{Pattern: "/"}},
	})
	s.answered(c.get("/"), http.StatusOK)
	s.ended(c.get("/"), ratelimit.Denied, http.StatusTooManyRequests)
}

func skippedEnds(s *suite) {
	c := s.serve(App{
		Use:    []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(2))), SkipPath: "/health"}},
		Routes: []Route{{Pattern: "/"}, {Pattern: "/health"}, {Method: http.MethodOptions, Pattern: "/"}},
	})
	c.get("/health").untold(http.StatusOK)
	c.do(http.MethodOptions, "/", "Origin: https://other.test", "Access-Control-Request-Method: POST").untold(http.StatusOK)
	s.answered(c.get("/"), http.StatusOK)
}

func nestedEnds(s *suite) {
	limits := s.limits(forAll("all", ratelimit.PerMinute(100)))
	c := s.serve(App{
		Use: []Middleware{{Limiter: limits}},
		Routes: []Route{
			{
				Pattern: "/", Handler: StatusHandler, Status: http.StatusTeapot,
				Use: []Middleware{{Limiter: limits.With(forAll("one", ratelimit.PerMinute(1)))}},
			},
			{Pattern: "/hijack", Handler: HijackHandler, Use: []Middleware{{Limiter: limits.With(forAll("two", ratelimit.PerMinute(9)))}}},
		},
	})
	admitted := c.get("/")
	s.ended(admitted, ratelimit.Allowed, http.StatusTeapot)
	s.ended(admitted, ratelimit.Allowed, http.StatusTeapot)
	denied := c.get("/") // to the outer one, any 429 that was answered
	s.ended(denied, ratelimit.Denied, http.StatusTooManyRequests)
	s.ended(denied, ratelimit.Allowed, http.StatusTooManyRequests)
	if _, cannot := s.adapter.Cannot[Hijack]; !cannot {
		hijacked := c.get("/hijack")
		s.ended(hijacked, ratelimit.Allowed, 0)
		s.ended(hijacked, ratelimit.Allowed, 0)
	}
}

func http2Ends(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(4))))
	app.Recover = true
	app.Routes = append(
		app.Routes,
		Route{Pattern: "/teapot", Handler: StatusHandler, Status: http.StatusTeapot},
		Route{Pattern: "/stream", Handler: StreamHandler, Pause: func() {}},
		Route{Pattern: "/panics", Handler: PanicHandler},
	)
	c := s.serve(app)
	c.speakHTTP2()

	s.answered(c.get("/"), http.StatusOK)
	s.answered(c.get("/teapot"), http.StatusTeapot)
	s.answered(c.get("/stream"), http.StatusOK)
	s.answered(c.get("/panics"), http.StatusInternalServerError)
	s.ended(c.get("/"), ratelimit.Denied, http.StatusTooManyRequests)
}
