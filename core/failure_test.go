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

// What a failed store means is the limiter's to say, or the policy's; one policy
// that fails closed closes the request.
func TestStoreFails(t *testing.T) {
	const byDefault, open, closed = ratelimit.FailDefault, ratelimit.FailOpen, ratelimit.FailClosed
	boom := errors.New("dial tcp 10.0.0.7:6379: connection refused")
	for _, c := range []struct {
		name     string
		limiter  ratelimit.FailureMode
		policies []ratelimit.FailureMode
		status   int
	}{
		{"nothing said", byDefault, []ratelimit.FailureMode{byDefault, byDefault}, 0},
		{"limiter open", open, []ratelimit.FailureMode{byDefault}, 0},
		{"limiter closed", closed, []ratelimit.FailureMode{byDefault}, 503},
		{"limiter closed, policy open", closed, []ratelimit.FailureMode{open}, 0},
		{"limiter open, policy closed", open, []ratelimit.FailureMode{closed}, 503},
		{"first closed", byDefault, []ratelimit.FailureMode{closed, open}, 503},
		{"last closed", byDefault, []ratelimit.FailureMode{open, byDefault, closed}, 503},
		{"limiter closed, one policy open", closed, []ratelimit.FailureMode{open, byDefault}, 503},
	} {
		var policies []ratelimit.Policy
		var observed []string
		for i, mode := range c.policies {
			p := pol(string(rune('a'+i)), ratelimit.PerHour(5))
			p.OnFailure = mode
			policies = append(policies, p)
			observed = append(observed, p.Name+` "ann" unavailable`)
		}
		b := configured(ratelimit.Config{Store: limittest.Fail(boom), Policies: policies, OnFailure: c.limiter})
		ticket := b.Begin(get("ann"))
		if ticket.Outcome() != ratelimit.Unavailable || ticket.Status() != c.status || ticket.Delay() != 0 {
			t.Errorf("%s: %v %d, want %d", c.name, ticket.Outcome(), ticket.Status(), c.status)
		}
		for d := range ticket.Decisions() {
			if d.Allowed() != (c.status == 0) || d.Outcome != ratelimit.Unavailable || !d.At().IsZero() {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
		var want []string
		if c.status != 0 {
			want = []string{"Cache-Control: no-store"}
		}
		if got := headers(ticket); !slices.Equal(got, want) {
			t.Errorf("%s: headers %q, want %q", c.name, got, want)
		}
		if _, body := ticket.Body(); strings.Contains(string(body), "10.0.0.7") {
			t.Errorf("%s: the client is told %s", c.name, body)
		}
		ticket.End(c.status, nil)

		if said := b.said.take(); len(said) != 1 || said[0].Kind != ratelimit.ReportStoreError || !errors.Is(said[0].Err, boom) {
			t.Errorf("%s: reported %+v", c.name, said)
		}
		if !slices.Equal(b.said.decided, observed) {
			t.Errorf("%s: observed %q, want %q", c.name, b.said.decided, observed)
		}

		d, err := b.Allow(t.Context(), "ann", 1)
		if err != nil || d.Outcome != ratelimit.Unavailable || d.Allowed() != (c.status == 0) {
			t.Errorf("%s: Allow: %+v, %v", c.name, d, err)
		}
	}
}

// A store that answered half before it failed has not answered.
func TestStoreFailsHalfway(t *testing.T) {
	store := limittest.Allow()
	store.Decide(func(a limittest.Asked) (ratelimit.Result, error) {
		if a.Policy == "second" {
			return ratelimit.Result{}, errors.New("boom")
		}
		return ratelimit.Result{Remaining: 3, RetryAfter: time.Hour, Delay: time.Hour}, nil
	})
	b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{pol("first", ratelimit.PerHour(5)), pol("second", ratelimit.PerHour(5))}})
	ticket := b.Begin(get("ann"))
	defer ticket.End(200, nil)
	for d := range ticket.Decisions() {
		if d.Remaining != 0 || d.RetryAfter != 0 || d.Delay != 0 || d.Fits {
			t.Errorf("%s tells %+v", d.Policy, d)
		}
	}
	if ticket.Status() != 0 || ticket.Delay() != 0 || len(headers(ticket)) != 0 {
		t.Errorf("%d, delay %v, %q", ticket.Status(), ticket.Delay(), headers(ticket))
	}
}

// A client that hung up is no failure of the store's. The same error with the client
// still there is one, and so is a store that does not answer in time.
func TestClientHangsUp(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range []struct {
		name    string
		ctx     context.Context
		err     error
		reports int
	}{
		{"hung up", gone, context.Canceled, 0},
		{"hung up, and the store says something else", gone, errors.New("connection closed"), 0},
		{"there", t.Context(), context.Canceled, 1},
		{"no answer in time", late, context.DeadlineExceeded, 1},
		{"no answer in time, and the store says something else", late, errors.New("i/o timeout"), 1},
	} {
		b := configured(ratelimit.Config{Store: limittest.Fail(c.err), Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(1))}})
		b.Begin(request(limittest.Request{Context: c.ctx})).End(0, nil)
		said := b.said.take()
		if len(said) != c.reports || c.reports == 1 && (said[0].Kind != ratelimit.ReportStoreError || !errors.Is(said[0].Err, c.err)) {
			t.Errorf("%s: reported %+v, want %d", c.name, said, c.reports)
		}
	}
}

// A correction that is lost is reported, once, and not retried; the wait's own error
// is what the caller sees.
func TestAdjustFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		store := limittest.Allow()
		store.Decide(func(limittest.Asked) (ratelimit.Result, error) {
			return ratelimit.Result{Allowed: true, Delay: time.Minute}, nil
		})
		b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{over(pol("api", ratelimit.PerHour(1)), ratelimit.Delay(time.Hour))}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ticket := b.Begin(request(limittest.Request{Context: ctx}))
		store.Fail(boom)
		if err := ticket.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		ticket.End(0, ctx.Err())
		if said := b.said.take(); len(said) != 1 || said[0].Kind != ratelimit.ReportAdjustError || !errors.Is(said[0].Err, boom) {
			t.Errorf("reported %+v", said)
		}
	})
}

// adjusting is a store that notes the corrections, and under what context they came.
type adjusting struct {
	limittest.Store
	made []ratelimit.Adjustment
	errs []error
}

func (s *adjusting) Adjust(ctx context.Context, made []ratelimit.Adjustment) error {
	s.made = append(s.made, made...)
	s.errs = append(s.errs, ctx.Err())
	return nil
}

// What is given back is what was charged in fact, with its receipt, the last charge
// first, in one call that the request's end does not cut off.
func TestRefundTellsTheReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(adjusting)
		store.Decide(func(a limittest.Asked) (ratelimit.Result, error) {
			return ratelimit.Result{Allowed: a.Policy != "trial", Delay: time.Minute, Receipt: ratelimit.Receipt{End: 77}}, nil
		})
		api := over(pol("api", ratelimit.PerHour(9)), ratelimit.Delay(time.Hour))
		api.Cost = func(ratelimit.Request) (int64, error) { return 3, nil }
		b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{
			api, over(pol("trial", ratelimit.PerHour(9)), ratelimit.Shadow()), pol("other", ratelimit.PerHour(9)),
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ticket := b.Begin(request(limittest.Request{Context: ctx}))
		at := ticket.Decision().At().UnixMicro()
		for range 2 { // the second time there is nothing left to give back
			ticket.Wait(ctx)
		}
		ticket.End(0, ctx.Err())

		if len(store.made) != 2 || !slices.Equal(store.errs, []error{nil}) {
			t.Fatalf("made %+v, under contexts that are %v", store.made, store.errs)
		}
		for i, want := range []struct {
			policy string
			units  int64
		}{{"other", 1}, {"api", 3}} { // the shadow did not fit: it was not charged
			a := store.made[i]
			receipt := ratelimit.Receipt{At: at, Units: want.units, End: 77}
			if a.Op != ratelimit.Refund || a.Space.Policy != want.policy || a.Units != want.units || a.Receipt != receipt || a.Limit != ratelimit.PerHour(9) {
				t.Errorf("%d: %+v, want a refund of %+v", i, a, want)
			}
		}
	})
}
