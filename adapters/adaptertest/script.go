package adaptertest

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

//go:embed testdata/script.txt
var scriptAnswers string

var record = flag.String("adaptertest.record", "", "file to write the answers to the script to")

// script: one session that meets every kind of answer, recorded once. Whatever the
// framework, it is answered with the same bytes.
func script() []testCase {
	return []testCase{{name: "the script is answered byte for byte", run: byteForByte}}
}

func byteForByte(s *suite) {
	c := s.serve(s.scripted())
	var b strings.Builder
	for i, step := range scriptSteps() {
		s.clock.Advance(step.wait)
		method, path, _ := strings.Cut(step.line, " ")
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.Join(append([]string{step.line}, step.headers...), ", "))
		c.do(method, path, step.headers...).transcribe(&b)
	}
	if *record != "" {
		if err := os.WriteFile(*record, []byte(b.String()), 0o644); err != nil {
			s.Error(err)
		}
		return
	}
	got, want := strings.SplitAfter(b.String(), "\n\n"), strings.SplitAfter(scriptAnswers, "\n\n")
	if len(got) != len(want) {
		s.Errorf("%d answers, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			s.Errorf("got\n%s\nwant\n%s", got[i], want[i])
		}
	}
}

// transcribe writes all of an answer but its date. Of a framework's own answers,
// and of the length that a HEAD answer may tell, only what limiters say.
func (a *answer) transcribe(b *strings.Builder) {
	fmt.Fprintln(b, a.status)
	frameworks := a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		switch {
		case name == "Date", name == "Content-Length" && strings.HasPrefix(a.name, http.MethodHead):
		case frameworks && !isLimit(name):
		default:
			fmt.Fprintf(b, "%s: %s\n", name, strings.Join(a.header[name], " || "))
		}
	}
	if body := strings.TrimSuffix(a.body, "\n"); body != "" && !frameworks {
		fmt.Fprintln(b, body)
	}
	b.WriteByte('\n')
}

// step is one request of the script, after a wait.
type step struct {
	wait    time.Duration
	line    string
	headers []string
}

// scripted is the app that the script is written for.
func (s *suite) scripted() App {
	limits := s.configured(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: s.clock.Now}),
		Policies: []ratelimit.Policy{forAll("all", ratelimit.PerMinute(1000))},
	})
	with := func(p ratelimit.Policy) []Middleware { return []Middleware{{Limiter: limits.With(p)}} }
	search := forAll("search", ratelimit.PerMinute(12))
	search.Cost = keyfuncs.Fixed(5)
	dear := forAll("dear", ratelimit.PerMinute(2))
	dear.Cost = keyfuncs.Fixed(3)
	named := byKey("named", ratelimit.PerMinute(2))
	named.NoKey = ratelimit.NoKeyDeny
	broken := forAll("broken", ratelimit.PerMinute(1))
	broken.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return dst, errors.New(leak) }
	user := ratelimit.Policy{
		Name: "user", Limit: ratelimit.PerMinute(3).Using(ratelimit.GCRA),
		Key: keyfuncs.Func(func(r ratelimit.Request) string { return r.PathValue("id") }),
	}
	styled := func(headers ratelimit.HeaderStyle, answer ratelimit.AnswerStyle) []Middleware {
		return []Middleware{{Limiter: s.configured(ratelimit.Config{
			Headers: headers, Answer: answer,
			Policies: []ratelimit.Policy{forAll("burst", ratelimit.PerMinute(2)), forAll("daily", ratelimit.PerDay(100))},
		})}}
	}
	closed := s.configured(ratelimit.Config{
		Store: limittest.Fail(errors.New(leak)), Policies: []ratelimit.Policy{forAll("closed", ratelimit.PerMinute(1))},
		OnFailure: ratelimit.FailClosed,
	})
	draft6 := styled(ratelimit.HeaderStyle{Draft: ratelimit.Draft6, OmitX: true, ResetDelta: true}, ratelimit.AnswerText)
	return App{
		Use: []Middleware{{Limiter: limits, SkipPath: "/health"}},
		Groups: []Group{{
			Prefix: "/api", Use: with(byKey("key", ratelimit.PerMinute(60).WithBurst(2))),
			Routes: []Route{{Pattern: "/items"}, {Method: http.MethodPut, Pattern: "/items/{id}", Use: with(named)}},
		}},
		Routes: []Route{
			{Pattern: "/"},
			{Method: http.MethodHead, Pattern: "/"},
			{Method: http.MethodOptions, Pattern: "/"},
			{Pattern: "/health"},
			{Method: http.MethodPost, Pattern: "/login", Use: with(forAll("login", ratelimit.Per(3, 5*time.Minute).Using(ratelimit.SlidingLog)))},
			{Pattern: "/search", Use: with(search)},
			{Pattern: "/dear", Use: with(dear)},
			{Pattern: "/users/{id}", Use: with(user)},
			{Pattern: "/window", Use: with(forAll("window", ratelimit.PerHour(1).Using(ratelimit.FixedWindow)))},
			{Pattern: "/counter", Use: with(forAll("counter", ratelimit.PerSecond(1).Using(ratelimit.SlidingCounter)))},
			{Pattern: "/drafts/11", Use: styled(ratelimit.HeaderStyle{Draft: ratelimit.Draft11}, ratelimit.AnswerProblem)},
			{Pattern: "/drafts/6", Use: draft6},
			{Method: http.MethodHead, Pattern: "/drafts/6", Use: draft6},
			{Pattern: "/account", Handler: CheckHandler, Account: limits.With(forAll("account", ratelimit.PerMinute(1)))},
			{Pattern: "/polite", Use: []Middleware{{Limiter: limits.With(forAll("polite", ratelimit.PerMinute(1))), DeniedText: "slow down:"}}},
			{Pattern: "/closed", Use: []Middleware{{Limiter: closed}}},
			{Pattern: "/broken", Use: with(broken)},
		},
	}
}

// scriptSteps are the requests: the route, then what each of them is to show.
func scriptSteps() []step {
	var all []step
	add := func(n int, wait time.Duration, line string, headers ...string) {
		for i := range n {
			if i > 0 {
				wait = 0
			}
			all = append(all, step{wait, line, headers})
		}
	}
	add(2, 0, "GET /")
	add(4, 0, "POST /login", "X-Forwarded-For: 192.0.2.1")
	add(1, 5*time.Minute-time.Microsecond, "POST /login")
	add(2, time.Microsecond, "POST /login", "X-Forwarded-For: 192.0.2.2")
	add(3, 0, "GET /search?q=x")
	add(1, 10*time.Second, "GET /search")
	add(3, 0, "GET /api/items", "X-Api-Key: a")
	add(1, 0, "GET /api/items", "X-Api-Key: b")
	add(2, 0, "GET /api/items")
	add(2, 0, "PUT /api/items/1", "X-Api-Key: c")
	add(1, 2*time.Second, "PUT /api/items/1")
	add(1, 0, "GET /dear")
	add(1, 0, "HEAD /")
	add(1, 0, "OPTIONS /")
	add(1, 0, "OPTIONS /", "Origin: https://other.test", "Access-Control-Request-Method: GET")
	add(1, 0, "GET /missing")
	add(1, 0, "DELETE /")
	add(2, 0, "GET /health")
	add(2, 0, "GET /users/ann")
	add(2, 0, "GET /users/%61nn")
	add(1, 0, "GET /users/bob")
	add(2, 0, "GET /window")
	add(2, 0, "GET /counter")
	add(1, 1500*time.Millisecond, "GET /counter")
	add(3, 0, "GET /drafts/11")
	add(3, 0, "GET /drafts/6")
	add(1, 0, "HEAD /drafts/6")
	add(2, 0, "GET /account", "X-Account: ann")
	add(2, 0, "GET /account", "X-Account: bob")
	add(3, 0, "GET /polite")
	add(1, 0, "GET /closed")
	add(1, 0, "GET /broken")
	add(2, time.Hour, "GET /window")
	add(2, 0, "GET /")
	return all
}
