package ratelimit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

func TestObserver(t *testing.T) {
	api, trial := pol("api", ratelimit.PerHour(1)), over(pol("trial", ratelimit.PerHour(9)), ratelimit.Shadow())
	other := pol("other", ratelimit.PerHour(9))
	other.If = func(ratelimit.Request) bool { return false }
	b := newBench(api, trial, other)
	b.Begin(get("ann")).End(200, nil)
	b.Begin(get("ann")).End(429, nil)
	b.Begin(request(limittest.Request{})).End(200, nil)
	b.Allow(t.Context(), "job", 1)
	ticket, _ := b.Acquire(t.Context(), ratelimit.Ask{Policy: "trial", Key: "task"})
	ticket.End(0, nil)
	if want := []string{
		`api "ann" allowed`, `trial "ann" allowed`,
		`api "ann" denied`, `trial "ann" denied`,
		`api "!" allowed`, `trial "!" allowed`,
		`api "job" allowed`, `trial "job" allowed`, `other "job" allowed`,
		`trial "task" allowed`,
	}; !slices.Equal(b.said.decided, want) {
		t.Errorf("observed %q, want %q", b.said.decided, want)
	}

	// A long key shows as a hash, never as what a client sent.
	b = newBench(api)
	b.Begin(get(strings.Repeat("secret", 1000))).End(200, nil)
	if got := b.said.decided[0]; !strings.HasPrefix(got, `api "#`) || len(got) > 80 || strings.Contains(got, "secret") {
		t.Errorf("observed %s", got)
	}
}

// What is misconfigured is said once for each code and policy, by a limiter and its
// Withs together.
func TestMisconfiguredIsSaidOnce(t *testing.T) {
	code := ratelimit.Code("RL001")
	tell := func(name string) ratelimit.Policy {
		p := pol(name, ratelimit.PerHour(1000))
		p.Key = func(dst []byte, r ratelimit.Request) ([]byte, error) {
			r.Misconfigured(code, "the proxy is not trusted")
			return append(dst, "x"...), nil
		}
		return p
	}
	first, second := tell("first"), tell("second")
	b := newBench(first)
	both := b.With(first, second)
	begin := func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 10 {
					b.Begin(get("ann")).End(200, nil)
					both.Begin(get("ann")).End(200, nil)
				}
			})
		}
		wg.Wait()
	}
	begin()
	said := b.said.take()
	slices.SortFunc(said, func(a, b ratelimit.Report) int { return strings.Compare(a.Policy, b.Policy) })
	want := []ratelimit.Report{
		{Kind: ratelimit.ReportMisconfigured, Policy: "first", Code: "RL001", Detail: "the proxy is not trusted"},
		{Kind: ratelimit.ReportMisconfigured, Policy: "second", Code: "RL001", Detail: "the proxy is not trusted"},
	}
	if !slices.Equal(said, want) {
		t.Errorf("said %+v, want %+v", said, want)
	}

	code = "RL002"
	begin()
	if said := b.said.take(); len(said) != 2 || said[0].Code != code {
		t.Errorf("another code: said %+v", said)
	}
	// Outside of a limiter nobody listens.
	if _, err := first.Key(nil, ratelimit.NewRequest(get("ann"))); err != nil {
		t.Error(err)
	}
}

// Without an observer a misconfiguration is logged, and nothing else is.
func TestMisconfiguredIsLogged(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	defer slog.SetDefault(before)

	p := pol("api", ratelimit.PerHour(1))
	p.Key = func(dst []byte, r ratelimit.Request) ([]byte, error) {
		r.Misconfigured(ratelimit.CodeUntrustedProxy, "10.0.0.1 forwards and is not trusted")
		return append(dst, "x"...), nil
	}
	failing := p
	failing.Name = "failing"
	failing.Cost = func(ratelimit.Request) (int64, error) { return 0, errors.New("boom") }
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{p}})
	for range 3 {
		limits.Begin(get("ann")).End(200, nil)
	}
	want := `level=WARN msg="ratelimit: 10.0.0.1 forwards and is not trusted" code=RL001 policy=api see=https://github.com/weirhq/ratelimit/blob/main/docs/codes.md#RL001` + "\n"
	if got := log.String(); got != want {
		t.Errorf("logged\n%swant\n%s", got, want)
	}

	log.Reset()
	quiet := ratelimit.Must(ratelimit.Config{Store: limittest.Fail(errors.New("boom")), Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(1))}})
	quiet.Begin(get("ann")).End(200, nil)
	limits.With(failing).Begin(get("ann")).End(500, nil)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "policy=failing") {
		t.Errorf("logged\n%swant the misconfiguration only", got)
	}
}

// A memory store tells its observer what it forgot for want of room: at once, and
// then once a second how many it was since.
func TestEvictionsAreReported(t *testing.T) {
	var said recorder
	var clock limittest.Clock
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{MaxKeys: 10, Now: clock.Now, Observer: &said})
	limits := ratelimit.Must(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(5))}})
	added := 0
	flood := func(n int) {
		for range n {
			added++
			limits.Allow(t.Context(), strconv.Itoa(added), 1)
		}
	}
	var told int64
	for second := range 4 {
		flood(9000)
		reports := said.take()
		if len(reports) != 1 {
			t.Fatalf("second %d: %d reports of a flood, want one", second, len(reports))
		}
		if r := reports[0]; r.Kind != ratelimit.ReportEvicted || r.Policy != "api" || r.N < 1 {
			t.Errorf("%+v", r)
		}
		told += reports[0].N
		clock.Advance(time.Second - time.Microsecond)
		flood(1)
		if reports := said.take(); reports != nil {
			t.Errorf("second %d: %+v before it was over", second, reports)
		}
		clock.Advance(time.Microsecond)
	}
	flood(1)
	for _, r := range said.take() {
		told += r.N
	}
	if stats := store.Stats(); told != stats.Evictions || stats.Keys != 10 || stats.Keys+told != int64(added) {
		t.Errorf("%d evictions told, %+v of %d keys", told, stats, added)
	}
}
