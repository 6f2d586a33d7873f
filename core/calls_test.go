package ratelimit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

func TestAllow(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerMinute(3)))
	for i, step := range []struct {
		advance time.Duration
		n, left int64
		allowed bool
		retry   time.Duration
	}{
		{0, 2, 1, true, 0},
		{0, 2, 1, false, 20 * time.Second},
		{0, 0, 1, true, 0},
		{0, 1, 0, true, 0},
		{20*time.Second - time.Microsecond, 1, 0, false, time.Microsecond},
		{time.Microsecond, 1, 0, true, 0},
		{0, 4, 0, false, ratelimit.Never},
	} {
		b.clock.Advance(step.advance)
		d, err := b.Allow(t.Context(), "ann", step.n)
		if err != nil || d.Allowed() != step.allowed || d.Remaining != step.left || d.RetryAfter != step.retry {
			t.Errorf("%d: %v, %d left, retry %v, %v; want %+v", i, d.Allowed(), d.Remaining, d.RetryAfter, err, step)
		}
	}
	if d, err := b.Allow(t.Context(), "ann", -1); err == nil || d != (ratelimit.Decision{}) {
		t.Errorf("a negative cost: %+v, %v", d, err)
	}
}

// Allow asks none of a policy's functions, and meets the requests of the same key.
func TestAllowNeedsNoRequest(t *testing.T) {
	p := pol("api", ratelimit.PerHour(5))
	p.If = func(r ratelimit.Request) bool { return r.Method() == "GET" }
	p.Cost = func(ratelimit.Request) (int64, error) { return 3, nil }
	p.Vary = func(ratelimit.Request, ratelimit.Limit) ratelimit.Limit { return ratelimit.PerHour(4) }
	b := newBench(p)
	if d, err := b.Allow(t.Context(), "ann", 1); err != nil || d.Remaining != 4 {
		t.Errorf("%+v, %v; want 4 left", d, err)
	}
	if got := b.begin(get("ann")); got != "allowed 0, 0 left" {
		t.Errorf("%s, want 4 of 4 used", got)
	}
}

func TestPeek(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		b := newBench(pol("api", ratelimit.PerMinute(2).Using(a)), over(pol("billed", ratelimit.PerMinute(9).Using(a)), ratelimit.Meter()))
		for _, left := range []int64{2, 1, 0} {
			first, err := b.Peek(t.Context(), "ann")
			if err != nil || !first.Allowed() || first.Cost != 0 || first.Remaining != left {
				t.Errorf("%v: %+v, %v; want %d left", a, first, err, left)
			}
			for range 10 {
				if again, _ := b.Peek(t.Context(), "ann"); again != first {
					t.Errorf("%v: a look changed %+v to %+v", a, first, again)
				}
			}
			b.Allow(t.Context(), "ann", 1)
		}
	}
}

func TestReset(t *testing.T) {
	for a := range ratelimit.Algorithm(6) {
		first, second := pol("first", ratelimit.PerMinute(2).Using(a)), pol("second", ratelimit.PerHour(9).Using(a))
		b := newBench(first, second)
		for _, key := range []string{"ann", "bob", strings.Repeat("x", 100)} {
			b.Allow(t.Context(), key, 2)
		}
		if err := b.Reset(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		if err := b.Reset(t.Context(), strings.Repeat("x", 100)); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string][]int64{"ann": {2, 9}, "bob": {0, 7}, strings.Repeat("x", 100): {2, 9}} {
			if got := b.left(t, key, first, second); !slices.Equal(got, want) {
				t.Errorf("%v, %.5s: %d left, want %d", a, key, got, want)
			}
		}
		if err := b.Reset(t.Context(), "nobody"); err != nil {
			t.Errorf("of a key that was never seen: %v", err)
		}
	}

	boom := errors.New("boom")
	b := configured(ratelimit.Config{Store: limittest.Fail(boom), Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(1))}})
	if err := b.Reset(t.Context(), "ann"); !errors.Is(err, boom) {
		t.Errorf("a failed store: %v, want its error", err)
	}
}

func TestAcquire(t *testing.T) {
	mail, disk := pol("mail", ratelimit.PerHour(3)), pol("disk", ratelimit.PerHour(100))
	b := newBench(mail, disk)
	ask := func(asks ...ratelimit.Ask) *ratelimit.Ticket {
		ticket, err := b.Acquire(t.Context(), asks...)
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}

	ticket := ask(ratelimit.Ask{Policy: "disk", Key: "vol1", Cost: 40}, ratelimit.Ask{Policy: "mail", Key: "ann"})
	if ticket.Outcome() != ratelimit.Allowed || ticket.Status() != 0 {
		t.Errorf("%v %d", ticket.Outcome(), ticket.Status())
	}
	if want := []tally{{"disk", true, 40}, {"mail", true, 1}}; !slices.Equal(fits(ticket), want) {
		t.Errorf("%v, want %v", fits(ticket), want)
	}
	ticket.End(0, nil)
	ticket.End(0, nil) // a caller's own ticket: harmless

	// All or none.
	denied := ask(ratelimit.Ask{Policy: "disk", Key: "vol1", Cost: 10}, ratelimit.Ask{Policy: "mail", Key: "ann", Cost: 3})
	if denied.Outcome() != ratelimit.Denied || denied.Status() != 429 || denied.Decision().Policy != "mail" {
		t.Errorf("%v %d by %s", denied.Outcome(), denied.Status(), denied.Decision().Policy)
	}
	if contentType, body := denied.Body(); contentType != "application/json" || len(body) == 0 || len(headers(denied)) == 0 {
		t.Errorf("%s %s, %q", contentType, body, headers(denied))
	}
	if got := b.left(t, "vol1", disk); got[0] != 60 {
		t.Errorf("%d left, want 60", got[0])
	}

	// One policy on two keys.
	two := ask(ratelimit.Ask{Policy: "mail", Key: "bob"}, ratelimit.Ask{Policy: "mail", Key: "eve", Cost: 2})
	if want := []tally{{"mail", true, 1}, {"mail", true, 2}}; !slices.Equal(fits(two), want) {
		t.Errorf("%v, want %v", fits(two), want)
	}

	if none := ask(); none.Outcome() != ratelimit.Skipped || none.Status() != 0 || none.Decision() != (ratelimit.Decision{}) {
		t.Errorf("nothing asked: %v", none.Outcome())
	}
	for _, wrong := range []ratelimit.Ask{{Policy: "fax", Key: "ann"}, {Key: "ann"}, {Policy: "mail", Key: "ann", Cost: -1}} {
		if ticket, err := b.Acquire(t.Context(), ratelimit.Ask{Policy: "disk", Key: "vol1"}, wrong); err == nil || ticket != nil {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if got := b.left(t, "vol1", disk); got[0] != 60 {
		t.Errorf("a wrong call charged: %d left, want 60", got[0])
	}
}

// An acquired reservation that is not waited for is given back.
func TestAcquireWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := ratelimit.Must(ratelimit.Config{
			Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: time.Now}),
			Policies: []ratelimit.Policy{pol("queue", ratelimit.PerSecond(1).WithBurst(3).Using(ratelimit.LeakyBucket))},
		})
		for i, want := range []time.Duration{0, time.Second, time.Second} {
			ctx, cancel := context.WithCancel(t.Context())
			ticket, err := limits.Acquire(t.Context(), ratelimit.Ask{Policy: "queue", Key: "ann"})
			if err != nil || ticket.Delay() != want {
				t.Errorf("%d: delay %v, %v; want %v", i, ticket.Delay(), err, want)
			}
			if i == 1 {
				cancel()
				if err := ticket.Wait(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("%d: %v", i, err)
				}
			}
			ticket.End(0, nil)
			cancel()
		}
	})
}

// Two places of one queue are given up together.
func TestAcquireTwiceGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := waiting(pol("queue", ratelimit.Per(7, time.Second).WithBurst(100).Using(ratelimit.LeakyBucket)))
		ask := []ratelimit.Ask{{Policy: "queue", Key: "ann", Cost: 3}, {Policy: "queue", Key: "bob"}, {Policy: "queue", Key: "ann", Cost: 2}}
		ticket, err := limits.Acquire(t.Context(), ask...)
		if err != nil || ticket.Delay() <= 0 {
			t.Fatalf("%v, delay %v", err, ticket.Delay())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := ticket.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want cancelled", err)
		}
		ticket.End(0, ctx.Err())
		for _, key := range []string{"ann", "bob"} {
			if d, _ := limits.Peek(t.Context(), key); d.Used != 0 || d.ResetAfter != 0 {
				t.Errorf("%s: %d used for %v, want nothing", key, d.Used, d.ResetAfter)
			}
		}
	})
}

// Refuse answers a decision that was made inside a handler.
func TestRefuse(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerHour(100)))
	login := b.With(pol("login", ratelimit.PerMinute(1)))
	login.Allow(t.Context(), "ann", 1)
	d, _ := login.Allow(t.Context(), "ann", 1)
	for _, c := range []struct {
		name    string
		d       ratelimit.Decision
		outcome ratelimit.Outcome
		status  int
		retry   string
	}{
		{"denied", d, ratelimit.Denied, 429, "60"},
		{"never", ratelimit.Decision{Outcome: ratelimit.Denied, RetryAfter: ratelimit.Never}, ratelimit.Denied, 429, ""},
		{"unavailable", ratelimit.Decision{Outcome: ratelimit.Unavailable}, ratelimit.Unavailable, 503, ""},
		{"errored", ratelimit.Decision{Outcome: ratelimit.Errored}, ratelimit.Errored, 500, ""},
	} {
		ticket := ratelimit.Refuse(get("ann"), c.d)
		if ticket.Outcome() != c.outcome || ticket.Status() != c.status || ticket.Decision().Policy != c.d.Policy {
			t.Errorf("%s: %v %d, %+v", c.name, ticket.Outcome(), ticket.Status(), ticket.Decision())
		}
		if got := header(ticket, "Retry-After"); got != c.retry {
			t.Errorf("%s: Retry-After %q, want %q", c.name, got, c.retry)
		}
		if got := header(ticket, "Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %q", c.name, got)
		}
		if _, body := ticket.Body(); len(body) == 0 {
			t.Errorf("%s: no body", c.name)
		}
		ticket.End(c.status, nil)
	}
	if got := b.begin(get("ann")); got != "allowed 0, 99 left" {
		t.Errorf("the next request: %s", got)
	}
}
