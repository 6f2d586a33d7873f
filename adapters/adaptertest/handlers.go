package adaptertest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// handlers: what handlers do with the response, and what becomes of the headers.
func handlers() []testCase {
	return []testCase{
		{name: "a handler that fails", run: handlerFails},
		{name: "a handler that panics", run: handlerPanics},
		{name: "headers come before the body", run: handlerStreams},
		{name: "a handler that answers 103 first", needs: EarlyHints, run: handlerHints},
		{name: "a handler that hijacks", needs: Hijack, run: handlerHijacks},
		{name: "a handler that is a proxy", run: handlerProxies},
		{name: "denials for the app's error handler", needs: HandErrors, run: errorHandler},
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

// What an upstream says of its own limits, which leave more than is left here, does
// not reach the client. Those are for the proxy, whose handler drops them; where it
// does not, net/http's ReverseProxy adds them to the limiter's, so that each header
// stands twice. Where fiber's proxy puts them in the limiter's place, the adapter puts
// the limiter's back.
func handlerProxies(s *suite) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "9000")
		w.Header().Set("X-RateLimit-Remaining", "8999")
		w.Header().Set("X-RateLimit-Reset", "1")
		w.Header().Set("X-Upstream", "yes")
		if r.URL.Path == "/busy" {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		io.WriteString(w, "from upstream")
	}))
	s.Cleanup(upstream.Close)
	app := one(s.limits(forAll("api", ratelimit.PerMinute(3))))
	for _, path := range []string{"/proxied", "/busy"} {
		app.Routes = append(app.Routes, Route{Pattern: path, Handler: ProxyHandler, Upstream: upstream.URL})
	}
	c := s.serve(app)

	a := c.get("/proxied")
	a.is(http.StatusOK, "from upstream", headers{
		"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "2", "X-Ratelimit-Reset": "1767225620",
	})
	if a.header.Get("X-Upstream") != "yes" {
		s.Error("the upstream's own header is not there")
	}
	busy := c.get("/busy") // the upstream's denial is its own
	if busy.status != http.StatusTooManyRequests || busy.body != "from upstream" || busy.header.Get("Retry-After") != "7" {
		s.Errorf("got %d %q telling\n%s", busy.status, busy.body, busy.told())
	}
	c.get("/").left(0)
	if a := c.get("/proxied"); a.header.Get("X-Upstream") != "" {
		s.Errorf("a denied request reached the upstream: %d %q", a.status, a.body)
	} else {
		a.denied()
	}
}

func errorHandler(s *suite) {
	closed := s.configured(ratelimit.Config{
		Store: limittest.Fail(errors.New(leak)), Policies: []ratelimit.Policy{forAll("closed", ratelimit.PerMinute(1))},
		OnFailure: ratelimit.FailClosed,
	})
	c := s.serve(App{
		Errors: "sorry",
		Use:    []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(3))), HandErrors: true}},
		Routes: []Route{
			{Pattern: "/"},
			{Pattern: "/fails", Handler: ErrorHandler},
			{Pattern: "/closed", Use: []Middleware{{Limiter: closed, HandErrors: true}}},
		},
	})
	c.get("/").left(2)
	if a := c.get("/fails"); a.status != http.StatusInternalServerError || a.body != "sorry" || a.header.Get("X-RateLimit-Remaining") != "1" {
		s.Errorf("a handler's error: %d %q telling\n%s", a.status, a.body, a.told())
	}
	unavailable := c.get("/closed")
	if unavailable.status != http.StatusServiceUnavailable || unavailable.body != "sorry" {
		s.Errorf("a failed store: %d %q", unavailable.status, unavailable.body)
	}
	unavailable.keepsQuiet()

	a := c.get("/")
	delete(a.header, "Content-Type") // the app's own
	a.is(http.StatusTooManyRequests, "sorry", headers{
		"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "20", "Cache-Control": "no-store", "Content-Length": "5",
	})
}
