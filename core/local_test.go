package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

var errDown = errors.New("connection refused")

// flaky is a store that can be down.
type flaky struct {
	ratelimit.Store
	down atomic.Bool
}

func (f *flaky) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if f.down.Load() {
		return errDown
	}
	return f.Store.Take(ctx, charges, results)
}

func (f *flaky) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	if f.down.Load() {
		return errDown
	}
	return f.Store.Adjust(ctx, adjustments)
}

// twoStores is a bench whose store can be down, with a fallback of a share.
type twoStores struct {
	*bench
	store    *flaky
	fallback *flaky
}

func newTwoStores(share float64, policies ...ratelimit.Policy) twoStores {
	b := new(bench)
	memory := func() *flaky {
		return &flaky{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{Now: b.clock.Now})}
	}
	s := twoStores{b, memory(), memory()}
	b.Limiter = ratelimit.Must(ratelimit.Config{
		Store: s.store, Fallback: s.fallback, Share: share, Policies: policies, Observer: &b.said,
	})
	return s
}

func failing(p ratelimit.Policy, mode ratelimit.FailureMode) ratelimit.Policy {
	p.OnFailure = mode
	return p
}

// While the store is down a policy that fails local holds a share of its limit on the
// fallback, and tells that.
func TestFailLocal(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		s := newTwoStores(0.25, failing(pol("api", ratelimit.PerHour(10).Using(a)), ratelimit.FailLocal))
		step := func(want string) {
			t.Helper()
			ticket := s.Begin(get("ann"))
			got := fmt.Sprintf("%v %d, %s of %s, local %t", ticket.Outcome(), ticket.Status(), header(ticket, "X-Ratelimit-Remaining"), header(ticket, "X-Ratelimit-Limit"), ticket.Decision().Local)
			ticket.End(0, nil)
			if got != want {
				t.Errorf("%v: %s, want %s", a, got, want)
			}
		}
		step("allowed 0, 9 of 10, local false")
		s.store.down.Store(true)
		step("allowed 0, 1 of 2, local true")
		step("allowed 0, 0 of 2, local true")
		step("denied 429, 0 of 2, local true")
		s.store.down.Store(false)
		step("allowed 0, 8 of 10, local false")
	}
}

// A request mixes modes: one closed policy closes it before anything is charged, and
// what is open has no say.
func TestFailureModesMix(t *testing.T) {
	const open, closed, local = ratelimit.FailOpen, ratelimit.FailClosed, ratelimit.FailLocal
	for _, c := range []struct {
		modes []ratelimit.FailureMode
		over  ratelimit.Over // of the first
		want  []string       // of three requests: outcome, status, decisions, X-RateLimit-Remaining
		left  int64          // on the fallback under the last policy; 0 where that is not asked
	}{
		{[]ratelimit.FailureMode{local}, ratelimit.Reject(), []string{
			"allowed 0 [allowed] 1", "allowed 0 [allowed] 0", "denied 429 [denied] 0",
		}, 0},
		{[]ratelimit.FailureMode{open, local}, ratelimit.Reject(), []string{
			"allowed 0 [unavailable allowed] 1", "allowed 0 [unavailable allowed] 0", "denied 429 [unavailable denied] 0",
		}, 0},
		{[]ratelimit.FailureMode{local, open, local}, ratelimit.Reject(), []string{
			"allowed 0 [allowed unavailable allowed] 1", "allowed 0 [allowed unavailable allowed] 0", "denied 429 [denied unavailable denied] 0",
		}, 0},
		{[]ratelimit.FailureMode{closed, local}, ratelimit.Reject(), slices.Repeat([]string{"unavailable 503 [unavailable unavailable] "}, 3), 2},
		{[]ratelimit.FailureMode{open, closed, local}, ratelimit.Reject(), slices.Repeat([]string{"unavailable 503 [unavailable unavailable unavailable] "}, 3), 2},
		{[]ratelimit.FailureMode{closed, local}, ratelimit.Shadow(), []string{ // a shadow closes nothing
			"allowed 0 [unavailable allowed] 1", "allowed 0 [unavailable allowed] 0", "denied 429 [unavailable denied] 0",
		}, 0},
		{[]ratelimit.FailureMode{ratelimit.FailDefault}, ratelimit.Reject(), []string{ // who gives a fallback means it
			"allowed 0 [allowed] 1", "allowed 0 [allowed] 0", "denied 429 [denied] 0",
		}, 0},
		{ // a shadow alone decides nothing
			[]ratelimit.FailureMode{local, open},
			ratelimit.Shadow(),
			slices.Repeat([]string{"unavailable 0 [allowed unavailable] "}, 3),
			0,
		},
		{[]ratelimit.FailureMode{local, local}, ratelimit.Shadow(), []string{
			"allowed 0 [allowed allowed] 1", "allowed 0 [allowed allowed] 0", "denied 429 [denied denied] 0",
		}, 0},
	} {
		var policies []ratelimit.Policy
		for i, mode := range c.modes {
			p := failing(pol(fmt.Sprintf("p%d", i), ratelimit.PerHour(4)), mode)
			if i == 0 {
				p.Over = c.over
			}
			policies = append(policies, p)
		}
		s := newTwoStores(0.5, policies...)
		s.store.down.Store(true)
		for i, want := range c.want {
			ticket := s.Begin(get("ann"))
			var outcomes []string
			for d := range ticket.Decisions() {
				outcomes = append(outcomes, d.Outcome.String())
			}
			got := fmt.Sprintf("%v %d [%s] %s", ticket.Outcome(), ticket.Status(), strings.Join(outcomes, " "), header(ticket, "X-Ratelimit-Remaining"))
			ticket.End(0, nil)
			if got != want {
				t.Errorf("%v, %d: %s, want %s", c.modes, i, got, want)
			}
		}
		for _, r := range s.said.take() {
			if r.Kind != ratelimit.ReportStoreError || !errors.Is(r.Err, errDown) {
				t.Errorf("%v: reported %+v", c.modes, r)
			}
		}
		if left := s.left(t, "ann", policies[len(policies)-1])[0]; left != c.left {
			t.Errorf("%v: %d left on the fallback, want %d", c.modes, left, c.left)
		}
	}
}

// A denial by the fallback names only the policies that were asked.
func TestFailLocalNamesWhoDenied(t *testing.T) {
	store := &flaky{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{})}
	store.down.Store(true)
	limits := ratelimit.Must(ratelimit.Config{
		Store: store, Fallback: limittest.Deny(time.Minute), Share: 1, OnFailure: ratelimit.FailOpen,
		Answer: ratelimit.AnswerProblem, Headers: ratelimit.HeaderStyle{Draft: ratelimit.Draft11},
		Policies: []ratelimit.Policy{pol("open", ratelimit.PerHour(4)), failing(pol("local", ratelimit.PerHour(4)), ratelimit.FailLocal)},
	})
	ticket := limits.Begin(get("ann"))
	defer ticket.End(429, nil)
	if _, body := ticket.Body(); !strings.Contains(string(body), `"violated-policies":["local"]`) {
		t.Errorf("%s", body)
	}
	if got := header(ticket, "Ratelimit"); !strings.HasPrefix(got, `"local";`) || strings.Contains(got, "open") {
		t.Errorf("RateLimit: %s", got)
	}
	if got := header(ticket, "Retry-After"); got != "60" {
		t.Errorf("Retry-After %q, want 60", got)
	}
}

// What was charged on the fallback is given back there, whatever the store does by then.
func TestFailLocalRefunds(t *testing.T) {
	for _, back := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			slow := over(pol("slow", ratelimit.PerMinute(2)), ratelimit.Delay(time.Hour))
			s := newTwoStores(0.5, failing(slow, ratelimit.FailLocal), pol("open", ratelimit.PerHour(9)))
			s.store.down.Store(true)
			s.Begin(get("ann")).End(0, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			ticket := s.Begin(request(limittest.Request{Context: ctx, Header: map[string][]string{"X-Key": {"ann"}}}))
			if ticket.Delay() != time.Minute {
				t.Fatalf("delay %v, want a minute", ticket.Delay())
			}
			s.store.down.Store(!back)
			if err := ticket.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			ticket.End(0, nil)
			s.store.down.Store(true)
			if d, _ := s.With(failing(slow, ratelimit.FailLocal)).Peek(t.Context(), "ann"); d.Used != 1 || !d.Local {
				t.Errorf("%d used on the fallback, want 1", d.Used)
			}
			s.store.down.Store(false)
			if d, _ := s.With(failing(slow, ratelimit.FailLocal)).Peek(t.Context(), "ann"); d.Used != 0 || d.Local {
				t.Errorf("%d used in the store, want none", d.Used)
			}
		})
	}
}

// Where the fallback fails as well, there is nothing left to decide by.
func TestFallbackFails(t *testing.T) {
	s := newTwoStores(1, failing(pol("api", ratelimit.PerHour(1)), ratelimit.FailLocal))
	s.store.down.Store(true)
	s.fallback.down.Store(true)
	for range 3 {
		if got := s.begin(get("ann")); got != "unavailable 0, 0 left" {
			t.Errorf("%s, want it open", got)
		}
	}
	if said := s.said.take(); len(said) != 6 {
		t.Errorf("%d reports, want 2 a request", len(said))
	}
}

// Reset forgets on both sides.
func TestResetReachesTheFallback(t *testing.T) {
	s := newTwoStores(1, failing(pol("api", ratelimit.PerHour(1)), ratelimit.FailLocal))
	for _, down := range []bool{true, false, true} {
		s.store.down.Store(down)
		s.begin(get("ann"))
	}
	s.store.down.Store(false)
	if err := s.Reset(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	for _, down := range []bool{true, false} {
		s.store.down.Store(down)
		if d, _ := s.Peek(t.Context(), "ann"); d.Used != 0 || d.Local != down {
			t.Errorf("down %t: %+v, want nothing used", down, d)
		}
	}
	s.fallback.down.Store(true)
	if err := s.Reset(t.Context(), "ann"); !errors.Is(err, errDown) {
		t.Errorf("%v, want %v", err, errDown)
	}
}

// A share of a limit holds at least one unit, and is a limit that the fallback takes.
func TestShareOfALimit(t *testing.T) {
	for _, c := range []struct {
		limit ratelimit.Limit
		share float64
		want  ratelimit.Limit
	}{
		{ratelimit.PerMinute(100), 0.25, ratelimit.PerMinute(25).WithBurst(25)},
		{ratelimit.PerMinute(100).WithBurst(10), 0.25, ratelimit.PerMinute(25).WithBurst(2)},
		{ratelimit.PerMinute(100).WithBurst(1), 0.25, ratelimit.PerMinute(25).WithBurst(1)},
		{ratelimit.PerMinute(3), 1e-9, ratelimit.PerMinute(1).WithBurst(1)},
		{ratelimit.PerMinute(3), 1, ratelimit.PerMinute(3).WithBurst(3)},
		{ratelimit.PerMinute(10).Using(ratelimit.FixedWindow), 0.34, ratelimit.PerMinute(3).Using(ratelimit.FixedWindow)},
		{ratelimit.PerMinute(ratelimit.MaxQuota).Using(ratelimit.SlidingCounter), 0.5, ratelimit.PerMinute(1 << 30).Using(ratelimit.SlidingCounter)},
		{ // half of it, at half the rate, would not be back within ten years
			ratelimit.Per(19, ratelimit.MaxWindow).Using(ratelimit.GCRA).WithBurst(189), 0.1,
			ratelimit.Per(1, ratelimit.MaxWindow).Using(ratelimit.GCRA).WithBurst(9),
		},
	} {
		s := newTwoStores(c.share, failing(pol("api", c.limit), ratelimit.FailLocal))
		s.store.down.Store(true)
		ticket := s.Begin(get("ann"))
		if d := ticket.Decision(); d.Limit != c.want || d.Outcome != ratelimit.Allowed {
			t.Errorf("%v of %v: %v under %v, want %v", c.share, c.limit, d.Outcome, d.Limit, c.want)
		}
		ticket.End(0, nil)
	}
}

// A cache of denials leaves charges unasked beside the one that it denies.
func TestNotAsked(t *testing.T) {
	store := limittest.Allow()
	store.Decide(func(a limittest.Asked) (ratelimit.Result, error) {
		if a.Policy == "denies" {
			return ratelimit.Result{RetryAfter: time.Minute, ResetAfter: time.Hour}, nil
		}
		return ratelimit.Result{Allowed: true}, nil
	})
	limits := ratelimit.Must(ratelimit.Config{
		Store: unasked{store}, Headers: ratelimit.HeaderStyle{Draft: ratelimit.Draft11}, Answer: ratelimit.AnswerProblem,
		Policies: []ratelimit.Policy{pol("first", ratelimit.PerHour(9)), pol("denies", ratelimit.PerHour(5)), pol("last", ratelimit.PerHour(7))},
	})
	ticket := limits.Begin(get("ann"))
	defer ticket.End(429, nil)
	if d := ticket.Decision(); ticket.Outcome() != ratelimit.Denied || d.Policy != "denies" || d.RetryAfter != time.Minute {
		t.Errorf("%v by %+v", ticket.Outcome(), d)
	}
	for d := range ticket.Decisions() {
		if d.Fits != (d.Policy != "denies") || d.At().IsZero() != d.Fits {
			t.Errorf("%+v", d)
		}
	}
	if got := header(ticket, "X-Ratelimit-Limit") + " " + header(ticket, "Ratelimit"); got != `5 "denies";r=0;t=60` {
		t.Errorf("headers %s", got)
	}
	if _, body := ticket.Body(); !strings.Contains(string(body), `"violated-policies":["denies"]`) {
		t.Errorf("%s", body)
	}
}

// unasked is a store that marks as not asked what does not deny.
type unasked struct{ ratelimit.Store }

func (u unasked) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	err := u.Store.Take(ctx, charges, results)
	for i := range results {
		if results[i].Allowed {
			results[i] = ratelimit.Result{Allowed: true}
		}
	}
	return err
}

// A waiter that the fallback denies asks again soon: the store may be back, and hold
// what a share of the limit never does.
func TestWaitOutlivesTheOutage(t *testing.T) {
	for _, cost := range []int64{1, 3} { // 3 is more than the share ever holds
		synctest.Test(t, func(t *testing.T) {
			store := &flaky{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{})}
			limits := ratelimit.Must(ratelimit.Config{
				Store: store, Fallback: ratelimit.NewMemory(ratelimit.MemoryConfig{}), Share: 0.25,
				Policies: []ratelimit.Policy{pol("mail", ratelimit.PerHour(8))},
			})
			store.down.Store(true)
			if err := limits.Wait(t.Context(), "ann", 2); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(2500*time.Millisecond, func() { store.down.Store(false) })
			start := time.Now()
			if err := limits.Wait(t.Context(), "ann", cost); err != nil || time.Since(start) != 3*time.Second {
				t.Errorf("cost %d: %v after %v, want it admitted after 3s", cost, err, time.Since(start))
			}
		})
	}
}

// What is our own mistake is no outage: it must not leave a limit open for good.
func TestMisuseIsNoOutage(t *testing.T) {
	misuse := fmt.Errorf("%w: keys of two slots", ratelimit.ErrMisuse)
	for _, mode := range []ratelimit.FailureMode{ratelimit.FailOpen, ratelimit.FailClosed, ratelimit.FailLocal} {
		b := configured(ratelimit.Config{
			Store: limittest.Fail(misuse), Fallback: limittest.Allow(), Share: 1, OnFailure: mode,
			Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(1))},
		})
		ticket := b.Begin(get("ann"))
		if ticket.Outcome() != ratelimit.Errored || ticket.Status() != 500 || ticket.Decision().Allowed() {
			t.Errorf("mode %d: %v %d, want errored 500", mode, ticket.Outcome(), ticket.Status())
		}
		ticket.End(500, nil)
		if said := b.said.take(); len(said) != 1 || !errors.Is(said[0].Err, ratelimit.ErrMisuse) {
			t.Errorf("mode %d: reported %+v", mode, said)
		}
	}
}

// value is a store that cannot be compared.
type value struct {
	ratelimit.Store
	_ []int
}

func TestFallbackOfAnyType(t *testing.T) {
	memory := func() ratelimit.Store { return ratelimit.NewMemory(ratelimit.MemoryConfig{}) }
	for _, stores := range [][2]ratelimit.Store{
		{value{Store: memory()}, value{Store: memory()}},
		{unasked{value{Store: memory()}}, unasked{value{Store: memory()}}},
		{memory(), value{Store: memory()}},
		{nil, memory()},
	} {
		if _, err := ratelimit.New(ratelimit.Config{Store: stores[0], Fallback: stores[1], Share: 1}); err != nil {
			t.Errorf("%T and %T: %v", stores[0], stores[1], err)
		}
	}
}

// n instances that hold a share of 1/n hold the limit together, where it can be divided.
func TestSharesOfManyInstances(t *testing.T) {
	for n := int64(1); n <= 300; n++ {
		s := newTwoStores(1/float64(n), pol("api", ratelimit.PerMinute(2*n)))
		s.store.down.Store(true)
		if got := s.begin(get("ann")); got != "allowed 0, 1 left" {
			t.Errorf("%d instances: %s, want 1 of 2 left", n, got)
		}
	}
}
