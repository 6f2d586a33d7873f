package ratelimit_test

import (
	"slices"
	"sync"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// panics returns the fields that the error of a panic names.
func panics(t testing.TB, f func()) (wrong []string) {
	t.Helper()
	defer func() {
		t.Helper()
		err, ok := recover().(error)
		if !ok {
			t.Error("no panic with an error")
		}
		wrong = fields(t, err)
	}()
	f()
	return nil
}

func TestWithRefuses(t *testing.T) {
	vary := func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit { return l }
	login := pol("login", ratelimit.PerMinute(10))
	varied := login
	varied.Vary = vary
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{pol("api", ratelimit.PerMinute(100)), login}})
	changed := func(change func(*ratelimit.Policy)) ratelimit.Policy {
		p := login
		change(&p)
		return p
	}
	for name, p := range map[string]ratelimit.Policy{
		"limit": changed(func(p *ratelimit.Policy) { p.Limit.Quota++ }),
		"burst": changed(func(p *ratelimit.Policy) { p.Limit.Burst = 10 }),
		"key": changed(func(p *ratelimit.Policy) {
			p.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return dst, nil }
		}),
		"cost":      changed(func(p *ratelimit.Policy) { p.Cost = func(ratelimit.Request) (int64, error) { return 1, nil } }),
		"if":        changed(func(p *ratelimit.Policy) { p.If = func(ratelimit.Request) bool { return true } }),
		"vary":      varied,
		"over":      over(login, ratelimit.Shadow()),
		"no key":    changed(func(p *ratelimit.Policy) { p.NoKey = ratelimit.NoKeyDeny }),
		"failure":   changed(func(p *ratelimit.Policy) { p.OnFailure = ratelimit.FailClosed }),
		"most":      changed(func(p *ratelimit.Policy) { p.Vary, p.Most = vary, ratelimit.PerMinute(20) }),
		"algorithm": changed(func(p *ratelimit.Policy) { p.Limit.Algorithm = ratelimit.GCRA }),
	} {
		if got := panics(t, func() { limits.With(p) }); !slices.Equal(got, []string{`Policies[0] "login": Name`}) {
			t.Errorf("a login of another %s: wrong are %q", name, got)
		}
	}
	if got := panics(t, func() { limits.With(login, login) }); !slices.Equal(got, []string{`Policies[1] "login": Name`}) {
		t.Errorf("one policy twice: wrong are %q", got)
	}
	if got := panics(t, func() {
		limits.With(login, pol("x", ratelimit.PerMinute(0)), ratelimit.Policy{Name: "y", Limit: login.Limit})
	}); !slices.Equal(got, []string{
		`Policies[1] "x": Limit.Quota`, `Policies[2] "y": Key`,
	}) {
		t.Errorf("two wrong ones: wrong are %q", got)
	}

	// What was refused is not remembered: its name is free.
	limits.With(pol("x", ratelimit.PerMinute(1)))
}

// A policy used in several places shares its counters; the same policy made anew
// from the same parts is the same.
func TestWithShares(t *testing.T) {
	login := pol("login", ratelimit.PerHour(3))
	b := newBench(pol("api", ratelimit.PerHour(100)))
	first, second := b.With(login), b.With(pol("login", ratelimit.PerHour(3)), pol("other", ratelimit.PerHour(50)))
	spelled := login
	spelled.OnFailure, spelled.Most = ratelimit.FailOpen, login.Limit // the defaults
	third := first.With(spelled)
	for i, l := range []*ratelimit.Limiter{first, second, third} {
		d, err := l.Allow(t.Context(), "ann", 1)
		if want := int64(2 - i); err != nil || !d.Allowed() || d.Policy != "login" || d.Remaining != want {
			t.Errorf("%d: %+v, %v; want %d left", i, d, err, want)
		}
	}
	if d, _ := first.Allow(t.Context(), "ann", 1); d.Allowed() {
		t.Error("a fourth of three is allowed")
	}
	if got := b.left(t, "ann", pol("api", ratelimit.PerHour(100)), pol("other", ratelimit.PerHour(50))); !slices.Equal(got, []int64{100, 49}) {
		t.Errorf("left %d", got)
	}
}

// With leaves the limiter that it is called on as it was.
func TestWithLeavesTheOriginal(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerHour(5)))
	before := b.Describe()
	b.With(pol("a", ratelimit.PerHour(1)), pol("b", ratelimit.PerHour(1)))
	if got := b.Describe(); got != before {
		t.Errorf("%q became %q", before, got)
	}
}

// Limiters of one family are made and used at the same time.
func TestWithInParallel(t *testing.T) {
	login := pol("login", ratelimit.PerHour(100))
	b := newBench(pol("api", ratelimit.PerHour(1_000)))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				b.With(login, pol("p"+string(rune('0'+i)), ratelimit.PerHour(100))).Begin(get("ann")).End(200, nil)
				b.Begin(get("ann")).End(200, nil)
			}
		})
	}
	wg.Wait()
	if got := b.left(t, "ann", login, pol("api", ratelimit.PerHour(1_000))); !slices.Equal(got, []int64{0, 840}) {
		t.Errorf("left %d, want 0 of the logins (100 of 160 admitted) and 840 of the rest", got)
	}
}
