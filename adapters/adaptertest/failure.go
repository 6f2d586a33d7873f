package adaptertest

import (
	"errors"
	"maps"
	"net/http"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// failure: the store is down, or a function of the app's own fails. Nothing of the
// error reaches the client.
func failure() []testCase {
	return []testCase{
		{name: "failing open", run: failsOpen},
		{name: "failing closed", run: failsClosed},
		{name: "a key function that fails", run: keyFails},
		{name: "a cost function that fails", run: costFails},
	}
}

// leak is in every error's text, and in no answer.
const leak = "dial tcp 10.1.2.3:6379: connection refused"

func failsOpen(s *suite) {
	c := s.serve(one(s.configured(ratelimit.Config{
		Store: limittest.Fail(errors.New(leak)), Policies: []ratelimit.Policy{forAll("api", ratelimit.PerMinute(1))},
	})))
	for range 3 {
		a := c.get("/")
		a.untold(http.StatusOK)
		a.keepsQuiet()
	}
}

func failsClosed(s *suite) {
	c := s.serve(App{
		Use: []Middleware{{DeniedText: "not for this", Limiter: s.configured(ratelimit.Config{
			Store: limittest.Fail(errors.New(leak)), Policies: []ratelimit.Policy{forAll("api", ratelimit.PerMinute(1))},
			OnFailure: ratelimit.FailClosed,
		})}},
		Routes: []Route{{Pattern: "/", Enter: func() { s.Error("the handler ran") }}},
	})
	a := c.get("/")
	a.is(http.StatusServiceUnavailable, `{"error":"unavailable"}`, headers{
		"Cache-Control": "no-store", "Content-Type": "application/json", "Content-Length": "23",
	})
	a.keepsQuiet()
}

func keyFails(s *suite) {
	broken := forAll("api", ratelimit.PerMinute(1))
	broken.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return dst, errors.New(leak) }
	s.errored(broken)
}

func costFails(s *suite) {
	broken, negative := forAll("api", ratelimit.PerMinute(1)), forAll("api", ratelimit.PerMinute(1))
	broken.Cost = func(ratelimit.Request) (int64, error) { return 0, errors.New(leak) }
	s.errored(broken)
	negative.Cost = func(ratelimit.Request) (int64, error) { return -1, nil }
	s.errored(negative)
}

func (s *suite) errored(policy ratelimit.Policy) {
	s.Helper()
	app := one(s.limits(policy))
	app.Routes[0].Enter = func() { s.Error("the handler ran") }
	a := s.serve(app).get("/")
	a.untold(http.StatusInternalServerError)
	a.keepsQuiet()
}

// keepsQuiet checks that no part of an error's text is in the answer.
func (a *answer) keepsQuiet() {
	a.t.Helper()
	all := []string{a.body}
	for lines := range maps.Values(a.header) {
		all = append(all, lines...)
	}
	said := strings.Join(all, " ")
	for _, word := range []string{"10.1.2.3", "6379", "refused", "dial", "api"} {
		if strings.Contains(said, word) {
			a.t.Errorf("%s: the answer says %q: %q", a.name, word, said)
		}
	}
}
