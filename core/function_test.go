package ratelimit_test

import (
	"errors"
	"slices"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// An error of a key, cost or limit function answers 500, whatever the failure mode,
// is observed, and charges nobody.
func TestFunctionsThatFail(t *testing.T) {
	boom := errors.New("boom")
	first := pol("first", ratelimit.PerHour(5))
	costs := func(n int64, err error) ratelimit.CostFunc {
		return func(ratelimit.Request) (int64, error) { return n, err }
	}
	varies := func(l ratelimit.Limit) func(ratelimit.Request, ratelimit.Limit) ratelimit.Limit {
		return func(ratelimit.Request, ratelimit.Limit) ratelimit.Limit { return l }
	}
	for _, c := range []struct {
		name   string
		change func(*ratelimit.Policy)
		kind   ratelimit.ReportKind
		err    error // nil: one of the limiter's
	}{
		{"key", func(p *ratelimit.Policy) {
			p.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "half"...), boom }
		}, ratelimit.ReportKeyError, boom},
		{"cost", func(p *ratelimit.Policy) { p.Cost = costs(1, boom) }, ratelimit.ReportCostError, boom},
		{"negative cost", func(p *ratelimit.Policy) { p.Cost = costs(-1, nil) }, ratelimit.ReportCostError, nil},
		{"most negative cost", func(p *ratelimit.Policy) { p.Cost = costs(-1<<63, nil) }, ratelimit.ReportCostError, nil},
		{"no limit", func(p *ratelimit.Policy) { p.Vary = varies(ratelimit.Limit{}) }, ratelimit.ReportLimitError, nil},
		{"no quota", func(p *ratelimit.Policy) { p.Vary = varies(ratelimit.PerHour(0)) }, ratelimit.ReportLimitError, nil},
		{"negative burst", func(p *ratelimit.Policy) { p.Vary = varies(ratelimit.PerHour(1).WithBurst(-1)) }, ratelimit.ReportLimitError, nil},
		{"another window", func(p *ratelimit.Policy) { p.Vary = varies(ratelimit.PerMinute(1)) }, ratelimit.ReportLimitError, nil},
		{"another algorithm", func(p *ratelimit.Policy) {
			p.Vary = varies(ratelimit.PerHour(1).Using(ratelimit.GCRA))
		}, ratelimit.ReportLimitError, nil},
	} {
		for _, mode := range []ratelimit.FailureMode{ratelimit.FailOpen, ratelimit.FailClosed} {
			second := pol("second", ratelimit.PerHour(5))
			second.OnFailure = mode
			c.change(&second)
			b := newBench(first, second, pol("third", ratelimit.PerHour(5)))
			ticket := b.Begin(get("ann"))
			d := ticket.Decision()
			if ticket.Outcome() != ratelimit.Errored || ticket.Status() != 500 || d.Policy != "second" || d.Allowed() {
				t.Errorf("%s: %v %d, %+v; want 500 for second", c.name, ticket.Outcome(), ticket.Status(), d)
			}
			if got := headers(ticket); !slices.Equal(got, []string{"Cache-Control: no-store"}) {
				t.Errorf("%s: headers %q", c.name, got)
			}
			ticket.End(500, nil)

			said := b.said.take()
			if len(said) != 1 || said[0].Kind != c.kind || said[0].Policy != "second" || said[0].Err == nil {
				t.Fatalf("%s: reported %+v", c.name, said)
			}
			if c.err != nil && !errors.Is(said[0].Err, c.err) {
				t.Errorf("%s: reported %v, want %v", c.name, said[0].Err, c.err)
			}
			if got := b.left(t, "ann", first); got[0] != 5 {
				t.Errorf("%s: the policy before was charged: %d left", c.name, got[0])
			}
		}
	}
}

func TestCost(t *testing.T) {
	p := pol("upload", ratelimit.PerHour(10))
	cost := int64(1)
	p.Cost = func(ratelimit.Request) (int64, error) { return cost, nil }
	b := newBench(p)
	for i, step := range []struct {
		cost int64
		want string
	}{
		{4, "allowed 0, 6 left"},
		{0, "allowed 0, 6 left"},
		{7, "denied 429, 6 left"}, // above what is left
		{6, "allowed 0, 0 left"},
		{0, "allowed 0, 0 left"}, // a look is admitted with nothing left
		{1, "denied 429, 0 left"},
		{11, "denied 429, 0 left"},
		{1<<63 - 1, "denied 429, 0 left"},
	} {
		cost = step.cost
		if got := b.begin(get("ann")); got != step.want {
			t.Errorf("%d: a cost of %d: %s, want %s", i, step.cost, got, step.want)
		}
	}
	// Above the capacity no wait helps; at the capacity one does.
	for _, c := range []struct {
		cost  int64
		never bool
	}{{10, false}, {11, true}} {
		d, err := b.Allow(t.Context(), "ann", c.cost)
		if err != nil || d.Allowed() || (d.RetryAfter == ratelimit.Never) != c.never {
			t.Errorf("a cost of %d: %v, %v; want never %v", c.cost, d.RetryAfter, err, c.never)
		}
	}
}

func TestVary(t *testing.T) {
	hour := ratelimit.PerHour
	for _, c := range []struct {
		name                   string
		limit, most, vary, got ratelimit.Limit
	}{
		{"as it is", hour(10), ratelimit.Limit{}, hour(10), hour(10)},
		{"lower", hour(10), ratelimit.Limit{}, hour(3), hour(3)},
		{"no higher than Limit", hour(10), ratelimit.Limit{}, hour(30), hour(10)},
		{"higher", hour(10), hour(50), hour(30), hour(30)},
		{"as high as Most", hour(10), hour(50), hour(50), hour(50)},
		{"no higher than Most", hour(10), hour(50), hour(51), hour(50)},
		{"far above Most", hour(10), hour(50), hour(1 << 62), hour(50)},
		{"a larger burst", hour(10), hour(10).WithBurst(20), hour(10).WithBurst(15), hour(10).WithBurst(15)},
		{"no larger than Most's", hour(10), hour(10).WithBurst(20), hour(10).WithBurst(25), hour(10).WithBurst(20)},
		{"a quota above Most's burst", hour(10).WithBurst(5), hour(50).WithBurst(5), hour(30), hour(30).WithBurst(5)},
	} {
		p := pol("api", c.limit)
		p.Most = c.most
		p.Vary = func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit {
			if l != c.limit {
				t.Errorf("%s: Vary is given %v, want %v", c.name, l, c.limit)
			}
			return c.vary
		}
		b := newBench(p)
		ticket := b.Begin(get("ann"))
		if d := ticket.Decision(); d.Limit != c.got || d.Remaining != c.got.Capacity()-1 {
			t.Errorf("%s: %v, %d left; want %v", c.name, d.Limit, d.Remaining, c.got)
		}
		ticket.End(200, nil)
	}
}

// A raised limit admits at once; a lowered one refunds nothing.
func TestVaryKeepsWhatWasUsed(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		p := pol("api", ratelimit.PerHour(2).Using(a))
		now := p.Limit
		p.Most = ratelimit.PerHour(9).Using(a)
		p.Vary = func(ratelimit.Request, ratelimit.Limit) ratelimit.Limit { return now }
		b := newBench(p)
		for i, step := range []struct {
			quota int64
			want  string
		}{
			{2, "allowed 0, 1 left"},
			{2, "allowed 0, 0 left"},
			{2, "denied 429, 0 left"},
			{4, "allowed 0, 1 left"},
			{2, "denied 429, 0 left"},
			{4, "allowed 0, 0 left"},
			{9, "allowed 0, 4 left"},
		} {
			now.Quota = step.quota
			if got := b.begin(get("ann")); got != step.want {
				t.Errorf("%v, %d: at %d: %s, want %s", a, i, step.quota, got, step.want)
			}
		}
	}
}

// Most bounds what Vary returns, be it Limit itself; or New refuses such a Most.
func TestVaryIsBoundedByAMostBelowLimit(t *testing.T) {
	p := pol("api", ratelimit.PerHour(10))
	p.Most = ratelimit.PerHour(5)
	p.Vary = func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit { return l }
	limits, err := ratelimit.New(ratelimit.Config{Policies: []ratelimit.Policy{p}})
	if err != nil {
		return
	}
	ticket := limits.Begin(get("ann"))
	defer ticket.End(200, nil)
	if got := ticket.Decision().Limit; got != p.Most {
		t.Errorf("%v, want at most %v", got, p.Most)
	}
}
