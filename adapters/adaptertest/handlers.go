package adaptertest

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// handlers: what handlers do with the response, and what becomes of the headers.
func handlers() []testCase {
	return []testCase{
		{name: "a handler that fails", run: handlerFails},
		{name: "a handler that panics", run: handlerPanics},
		{name: "headers come before the body", run: handlerStreams},
		{name: "a handler that answers 103 first", needs: EarlyHints, run: handlerHints},
		{name: "a handler that hijacks", needs: Hijack, run: handlerHijacks},
	}
}

func handlerFails(s *suite) { s.broken(ErrorHandler) }

func handlerPanics(s *suite) { s.broken(PanicHandler) }

// broken has a handler answer 500 in its way: the headers are there, once, and the
// limiter goes on counting.
func (s *suite) broken(kind HandlerKind) {
	s.Helper()
	app := one(s.limits(forAll("api", ratelimit.PerMinute(4))))
	app.Recover = true
	app.Routes = append(app.Routes, Route{Pattern: "/broken", Handler: kind})
	c := s.serve(app)

	for _, left := range []string{"3", "2"} {
		a := c.get("/broken")
		if a.status != http.StatusInternalServerError || a.header.Get("X-RateLimit-Remaining") != left {
			s.Errorf("got %d telling\n%s\nwant 500 with %s left", a.status, a.told(), left)
		}
	}
	c.get("/").left(1)
}

func handlerStreams(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(2))))
	seen := make(chan struct{})
	app.Routes = append(app.Routes, Route{Pattern: "/stream", Handler: StreamHandler, Pause: func() {
		select {
		case <-seen:
		case <-s.Context().Done():
		}
	}})
	c := s.serve(app)

	resp, err := c.http.Do(c.request(http.MethodGet, "/stream", ""))
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("X-RateLimit-Remaining"); got != "1" {
		s.Errorf("%q left while the handler still writes, want 1", got)
	}
	close(seen)
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "one\ntwo\n" {
		s.Errorf("read %q, %v", body, err)
	}
	c.get("/").left(0)
}

func handlerHints(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(2))))
	app.Routes = append(app.Routes, Route{Pattern: "/hints", Handler: HintsHandler})
	c := s.serve(app)

	var early []int
	req := c.request(http.MethodGet, "/hints", "")
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			early = append(early, code)
			return nil
		},
	}))
	c.send(req).left(1)
	if len(early) != 1 || early[0] != http.StatusEarlyHints {
		s.Errorf("early answers %v, want [103]", early)
	}
}

func handlerHijacks(s *suite) {
	app := one(s.limits(forAll("api", ratelimit.PerMinute(2))))
	app.Routes = append(app.Routes, Route{Pattern: "/hijack", Handler: HijackHandler})
	c := s.serve(app)

	a := c.get("/hijack")
	if a.status != http.StatusOK || !strings.HasPrefix(a.body, "ok") {
		s.Errorf("hijacked: %d %q", a.status, a.body)
	}
	c.get("/").left(0)
	if a := c.get("/hijack"); a.status != http.StatusTooManyRequests {
		s.Errorf("the handler ran above the limit: %d %q", a.status, a.body)
	}
}
