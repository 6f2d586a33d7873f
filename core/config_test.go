package ratelimit_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// picky is a store that refuses every space, for a reason of its own.
type picky struct {
	ratelimit.Store
	err error
}

func (p picky) Open(*ratelimit.Space) error { return p.err }

// Every field of a Config is checked at New, and the error names it.
func TestNewRefuses(t *testing.T) {
	fine := ratelimit.PerMinute(10)
	same := limittest.Allow()
	one := func(p ratelimit.Policy) ratelimit.Config { return ratelimit.Config{Policies: []ratelimit.Policy{p}} }
	with := func(change func(*ratelimit.Policy)) ratelimit.Config {
		p := pol("api", fine)
		change(&p)
		return one(p)
	}
	vary := func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit { return l }
	const api = `Policies[0] "api": `
	for _, c := range []struct {
		name   string
		config ratelimit.Config
		wrong  []string
	}{
		{"failure mode", ratelimit.Config{OnFailure: 9}, []string{"OnFailure"}},
		{"local nowhere", ratelimit.Config{OnFailure: ratelimit.FailLocal}, []string{"OnFailure"}},
		{"share of nothing", ratelimit.Config{Share: 0.5}, []string{"Share"}},
		{"share missing", ratelimit.Config{Fallback: limittest.Allow()}, []string{"Share"}},
		{"share negative", ratelimit.Config{Fallback: limittest.Allow(), Share: -1}, []string{"Share"}},
		{"share above 1", ratelimit.Config{Fallback: limittest.Allow(), Share: 1.5}, []string{"Share"}},
		{"share not a number", ratelimit.Config{Fallback: limittest.Allow(), Share: math.NaN()}, []string{"Share"}},
		{"fallback is the store", ratelimit.Config{Store: same, Fallback: same, Share: 1}, []string{"Fallback"}},
		{"fallback nil", ratelimit.Config{Fallback: (*ratelimit.Memory)(nil), Share: 1}, []string{"Fallback: Memory"}},
		{"policy local nowhere", with(func(p *ratelimit.Policy) { p.OnFailure = ratelimit.FailLocal }), []string{api + "OnFailure"}},
		{
			"fallback refuses",
			ratelimit.Config{
				Fallback: picky{limittest.Allow(), &ratelimit.ConfigError{Field: "Limit.Window", Reason: "is too long"}}, Share: 1, OnFailure: ratelimit.FailLocal,
				Policies: []ratelimit.Policy{pol("api", fine)},
			},
			[]string{api + "Fallback: Limit.Window"},
		},
		{"preflight", ratelimit.Config{Preflight: 9}, []string{"Preflight"}},
		{"answer", ratelimit.Config{Answer: 9}, []string{"Answer"}},
		{"draft", ratelimit.Config{Headers: ratelimit.HeaderStyle{Draft: 9}}, []string{"Headers.Draft"}},
		{"jitter", ratelimit.Config{Headers: ratelimit.HeaderStyle{Jitter: -1}}, []string{"Headers.Jitter"}},
		{"long jitter", ratelimit.Config{Headers: ratelimit.HeaderStyle{Jitter: ratelimit.MaxWindow + 1}}, []string{"Headers.Jitter"}},
		{"partition key", ratelimit.Config{Headers: ratelimit.HeaderStyle{PartitionKey: []byte("s")}}, []string{"Headers.PartitionKey"}},

		{"policy", one(ratelimit.Policy{}), []string{
			`Policies[0] "": Name`, `Policies[0] "": Limit.Quota`, `Policies[0] "": Limit.Window`, `Policies[0] "": Key`,
		}},
		{"quota", with(func(p *ratelimit.Policy) { p.Limit.Quota = 0 }), []string{api + "Limit.Quota"}},
		{"window", with(func(p *ratelimit.Policy) { p.Limit.Window = -1 }), []string{api + "Limit.Window"}},
		{"burst", with(func(p *ratelimit.Policy) { p.Limit.Burst = -1 }), []string{api + "Limit.Burst"}},
		{"algorithm", with(func(p *ratelimit.Policy) { p.Limit.Algorithm = 9 }), []string{api + "Limit.Algorithm"}},
		{"key", with(func(p *ratelimit.Policy) { p.Key = nil }), []string{api + "Key"}},
		{"policy failure mode", with(func(p *ratelimit.Policy) { p.OnFailure = 9 }), []string{api + "OnFailure"}},
		{"no key", with(func(p *ratelimit.Policy) { p.NoKey = 9 }), []string{api + "NoKey"}},
		{"most without vary", with(func(p *ratelimit.Policy) { p.Most = ratelimit.PerMinute(20) }), []string{api + "Most"}},
		{"most of another window", with(func(p *ratelimit.Policy) {
			p.Vary, p.Most = vary, ratelimit.PerHour(20)
		}), []string{api + "Most"}},
		{"most of another algorithm", with(func(p *ratelimit.Policy) {
			p.Vary, p.Most = vary, ratelimit.PerMinute(20).Using(ratelimit.GCRA)
		}), []string{api + "Most"}},
		{"most invalid", with(func(p *ratelimit.Policy) {
			p.Vary, p.Most = vary, ratelimit.Per(-1, time.Minute)
		}), []string{api + "Most.Quota"}},

		{"delay none", one(over(pol("api", fine), ratelimit.Delay(0))), []string{api + "Over"}},
		{"delay negative", one(over(pol("api", fine), ratelimit.Delay(-time.Second))), []string{api + "Over"}},
		{"delay in nanoseconds", one(over(pol("api", fine), ratelimit.Delay(time.Second+1))), []string{api + "Over"}},
		{"delay too long", one(over(pol("api", fine), ratelimit.Delay(ratelimit.MaxWindow+time.Microsecond))), []string{api + "Over"}},
		{"delay on a queue", one(over(pol("api", fine.Using(ratelimit.LeakyBucket)), ratelimit.Delay(time.Second))), []string{api + "Over"}},
		{"delay on a window", one(over(pol("api", fine.Using(ratelimit.FixedWindow)), ratelimit.Delay(time.Second))), []string{api + "Over"}},
		{"delay on a log", one(over(pol("api", fine.Using(ratelimit.SlidingLog)), ratelimit.Delay(time.Second))), []string{api + "Over"}},
		{"delay on a counter", one(over(pol("api", fine.Using(ratelimit.SlidingCounter)), ratelimit.Delay(time.Second))), []string{api + "Over"}},

		{
			"twice",
			ratelimit.Config{Policies: []ratelimit.Policy{pol("api", fine), pol("api", fine)}},
			[]string{`Policies[1] "api": Name`},
		},
		{
			"twice, different",
			ratelimit.Config{Policies: []ratelimit.Policy{pol("a", fine), pol("b", fine), pol("a", ratelimit.PerHour(1))}},
			[]string{`Policies[2] "a": Name`},
		},
		{
			"everything",
			ratelimit.Config{
				OnFailure: 8, Preflight: 8, Answer: 8, Headers: ratelimit.HeaderStyle{Draft: 8, Jitter: -1, PartitionKey: []byte("s")},
				Policies: []ratelimit.Policy{pol("api", ratelimit.PerMinute(0)), pol("fine", fine), {Name: "Bad", Limit: fine}},
			},
			[]string{
				"OnFailure", "Preflight", "Headers.Draft", "Headers.Jitter", "Headers.PartitionKey", "Answer",
				api + "Limit.Quota", `Policies[2] "Bad": Name`, `Policies[2] "Bad": Key`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := ratelimit.New(c.config)
			if got := fields(t, err); !slices.Equal(got, c.wrong) {
				t.Errorf("wrong are %q, want %q", got, c.wrong)
			}
			if l != nil {
				t.Error("there is a limiter beside the error")
			}
			defer func() {
				if recover() == nil {
					t.Error("Must does not panic")
				}
			}()
			ratelimit.Must(c.config)
		})
	}
}

func TestNewRefusesNames(t *testing.T) {
	for name, fine := range map[string]bool{
		"a": true, "0": true, "api": true, "api-v1.per_ip": true, strings.Repeat("a", 64): true, "a-": true,
		"": false, strings.Repeat("a", 65): false, "-a": false, ".a": false, "_a": false, "A": false, "aB": false,
		"a b": false, "a:b": false, `a"b`: false, "a\n": false, "ä": false, "a\x00": false, "{a}": false, "a/b": false,
	} {
		_, err := ratelimit.New(ratelimit.Config{Policies: []ratelimit.Policy{pol(name, ratelimit.PerMinute(1))}})
		if (err == nil) != fine {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What a store cannot hold is told at New, naming the policy.
func TestNewRefusesWhatTheStoreDoes(t *testing.T) {
	policies := []ratelimit.Policy{pol("api", ratelimit.PerMinute(1))}
	_, err := ratelimit.New(ratelimit.Config{Policies: policies, Store: ratelimit.NewMemory(ratelimit.MemoryConfig{MaxKeys: -1})})
	if got := fields(t, err); len(got) != 1 || !strings.HasSuffix(got[0], "MaxKeys") {
		t.Errorf("wrong are %q, want MaxKeys", got)
	}

	// Once, though the store sees the limit as Limit and as Most.
	policies[0].Limit = ratelimit.PerHour(100_001).Using(ratelimit.SlidingLog)
	_, err = ratelimit.New(ratelimit.Config{Policies: policies})
	if got := fields(t, err); !slices.Equal(got, []string{`Policies[0] "api": Limit.Quota`}) {
		t.Errorf("a log of 100,001: wrong are %q, want its Quota", got)
	}

	reason := errors.New("no leases here")
	_, err = ratelimit.New(ratelimit.Config{Policies: policies, Store: picky{err: reason}})
	if !errors.Is(err, reason) || !strings.Contains(err.Error(), `Policies[0] "api"`) {
		t.Errorf("%v, want the store's reason and the policy", err)
	}
}

// The corners of Delay that are right.
func TestNewTakesDelays(t *testing.T) {
	for _, a := range []ratelimit.Algorithm{ratelimit.TokenBucket, ratelimit.GCRA} {
		for _, wait := range []time.Duration{time.Microsecond, time.Second, ratelimit.MaxWindow} {
			p := over(pol("api", ratelimit.PerMinute(10).Using(a)), ratelimit.Delay(wait))
			if _, err := ratelimit.New(ratelimit.Config{Policies: []ratelimit.Policy{p}}); err != nil {
				t.Errorf("%v, %v: %v", a, wait, err)
			}
		}
	}
	// The reservations of a delay have to fit the level: 2^32 − 1 units less the burst.
	p := over(pol("api", ratelimit.PerSecond(ratelimit.MaxQuota/4)), ratelimit.Delay(time.Hour))
	if _, err := ratelimit.New(ratelimit.Config{Policies: []ratelimit.Policy{p}}); !slices.Equal(fields(t, err), []string{`Policies[0] "api": Over`}) {
		t.Errorf("an hour at half a thousand million a second: %v", err)
	}
}

func TestNewWithoutPolicies(t *testing.T) {
	base, err := ratelimit.New(ratelimit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ticket := base.Begin(get("ann"))
	defer ticket.End(200, nil)
	if ticket.Outcome() != ratelimit.Skipped || ticket.Status() != 0 || len(headers(ticket)) != 0 || ticket.Decision().Policy != "" {
		t.Errorf("%v, %d, %q", ticket.Outcome(), ticket.Status(), headers(ticket))
	}
	if d, err := base.Allow(t.Context(), "ann", 1); err != nil || !d.Allowed() {
		t.Errorf("%+v, %v; want allowed", d, err)
	}
	if base.Describe() != "" {
		t.Errorf("describes %q", base.Describe())
	}
	if err := errors.Join(base.Wait(t.Context(), "ann", 1), base.Reset(t.Context(), "ann")); err != nil {
		t.Error(err)
	}

	one := base.With(pol("one", ratelimit.PerHour(1)))
	for _, want := range []bool{true, false} {
		if d, _ := one.Allow(t.Context(), "ann", 1); d.Allowed() != want {
			t.Errorf("allowed %v, want %v", d.Allowed(), want)
		}
	}
}

// A limiter is not changed by what happens to the slice that it was made from.
func TestNewCopiesPolicies(t *testing.T) {
	policies := []ratelimit.Policy{pol("api", ratelimit.PerMinute(5))}
	limits := ratelimit.Must(ratelimit.Config{Policies: policies})
	policies[0] = pol("other", ratelimit.PerMinute(1))
	if got := limits.Describe(); !strings.HasPrefix(got, "api: 5 per m") {
		t.Errorf("%q", got)
	}
}

// Two limiters on one store share what they count only under one name.
func TestLimitersOnOneStore(t *testing.T) {
	var clock limittest.Clock
	store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
	limiter := func(name string, n int64) *ratelimit.Limiter {
		return ratelimit.Must(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{pol(name, ratelimit.PerHour(n))}})
	}
	a, b, raised := limiter("a", 4), limiter("b", 4), limiter("a", 10)
	for _, step := range []struct {
		limits *ratelimit.Limiter
		left   int64
	}{{a, 3}, {a, 2}, {b, 3}, {raised, 7}, {a, 0}, {b, 2}} {
		d, err := step.limits.Allow(context.Background(), "ann", 1)
		if err != nil || !d.Allowed() || d.Remaining != step.left {
			t.Errorf("%s: %d left, %v; want %d", d.Policy, d.Remaining, err, step.left)
		}
	}
}
