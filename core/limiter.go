package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limiter decides. It models all limits of one place: a whole app, a route, a kind
// of job. It guarantees that a request is charged under all of its policies or
// under none.
//
// Make one with [New] or [Must]; the zero Limiter is of no use. Safe for concurrent
// use. Web apps hand it to an adapter's Middleware; code without HTTP calls [Limiter.Allow].
type Limiter struct {
	store     Store
	policies  []*policy
	headers   HeaderStyle
	answer    AnswerStyle
	preflight PreflightMode
	onFailure FailureMode
	fallback  Store // may be nil
	share     float64
	observer  Observer    // may be nil
	reporter  Observer    // never nil
	ends      EndObserver // may be nil
	family    *family
}

// Begin decides about a request. The adapter then does what the ticket says, and
// ends it.
func (l *Limiter) Begin(v View) *Ticket {
	t := l.ticket(v.Context())
	r := Request{view: v, limiter: l}
	if l.preflight == PreflightSkip && preflight(r) {
		return t
	}
	t.view = v
	for _, p := range l.policies {
		if !t.add(p, r) {
			return t
		}
	}
	t.take()
	if l.family.doubled.watching.Load() {
		t.watch()
	}
	return t
}

// preflight reports whether the request is a true CORS preflight.
func preflight(r Request) bool {
	return r.Method() == "OPTIONS" && r.Header("Origin") != "" && r.Header("Access-Control-Request-Method") != ""
}

// Refuse returns a ticket that answers a decision made inside a handler, by
// [Limiter.Allow] or [Limiter.Acquire], as if the request had been denied at its
// start, in that limiter's style. Adapters' Deny functions call it.
func Refuse(v View, d Decision) *Ticket {
	l := d.limiter
	if l == nil { // not a limiter's decision
		l = &Limiter{reporter: codeLogger{}, family: new(family)}
	}
	t := l.ticket(v.Context())
	t.view = v
	t.decisions = append(t.decisions, d)
	t.outcome, t.status = d.Outcome, 429
	switch d.Outcome {
	case Unavailable:
		t.status = 503
	case Errored:
		t.status = 500
	default:
		t.outcome = Denied
	}
	return t
}

// Ask is one policy's part in an Acquire.
type Ask struct {
	Policy string // one of the limiter's
	Key    string
	Cost   int64 // units; 0 means 1: to look, Peek
}

// Acquire charges the asks, all or none of them, without a request: for jobs,
// messages, RPC. The ticket's Outcome tells; End it when the work is done. An error
// means that the call itself is wrong: an unknown policy, a negative cost.
func (l *Limiter) Acquire(ctx context.Context, asks ...Ask) (*Ticket, error) {
	t := &Ticket{limiter: l, ctx: ctx, own: true}
	for _, a := range asks {
		p := l.policy(a.Policy)
		if p == nil {
			return nil, fmt.Errorf("ratelimit: the limiter has no policy %q", a.Policy)
		}
		if a.Cost < 0 {
			return nil, fmt.Errorf("ratelimit: policy %q: the cost is negative: %d", a.Policy, a.Cost)
		}
		t.charge(p, t.key(a.Key), p.Limit, max(1, a.Cost))
	}
	t.take()
	return t, nil
}

func (l *Limiter) policy(name string) *policy {
	for _, p := range l.policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Allow charges n units on a key under every policy of the limiter, all or none,
// without a request: If, Vary, Key and Cost of the policies are not asked. It
// returns the decision that binds: the one that denied, or else the one with the
// smallest share left. Where its Delay is above 0, the caller is to wait that long
// before it goes on; [Limiter.Wait] does. An error means that n is negative.
//
// A failed store is not an error: [Decision.Allowed] tells what the policies want then.
func (l *Limiter) Allow(ctx context.Context, key string, n int64) (Decision, error) {
	if n < 0 {
		return Decision{}, fmt.Errorf("ratelimit: the cost is negative: %d", n)
	}
	t := l.ask(ctx, key, n)
	d := t.Decision()
	d.Delay = t.delay
	t.End(0, nil)
	return d, nil
}

// ask charges every policy.
func (l *Limiter) ask(ctx context.Context, key string, n int64) *Ticket {
	t := l.ticket(ctx)
	for _, p := range l.policies {
		t.charge(p, t.key(key), p.Limit, n)
	}
	t.take()
	return t
}

// Peek returns how things stand, and changes nothing: what Allow does with a cost of
// 0, which is always allowed. Whether a request would be, Remaining tells.
func (l *Limiter) Peek(ctx context.Context, key string) (Decision, error) {
	return l.Allow(ctx, key, 0)
}

// askAgain is how long Wait believes a fallback.
const askAgain = time.Second

// Wait charges n units on a key under every policy, waiting until they fit. Those who
// wait for one key are in no order: who asks first when there is room is served. It
// returns at once with [ErrNever] where they never would, with [ErrDeadline] where
// the context would end first, and with the context's error when it ends. What a
// [Config.Fallback] denies it asks for again after a second at most.
func (l *Limiter) Wait(ctx context.Context, key string, n int64) error {
	if n < 0 {
		return fmt.Errorf("ratelimit: the cost is negative: %d", n)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := l.ask(ctx, key, n)
		d, delay := t.Decision(), t.Delay()
		switch {
		case d.Outcome == Denied && d.Local: // the store may be back any moment
			delay = min(max(d.RetryAfter, time.Millisecond), askAgain)
		case d.Outcome == Denied && d.RetryAfter == Never:
			t.End(0, ErrNever)
			return ErrNever
		case d.Outcome == Denied:
			delay = d.RetryAfter
			if delay <= 0 {
				delay = time.Millisecond // a store's mistake must not make this spin
			}
		case !d.Allowed():
			t.End(0, ErrUnavailable)
			return ErrUnavailable
		}
		if end, ok := ctx.Deadline(); ok && delay > 0 && time.Until(end) < delay {
			t.refund()
			t.End(0, ErrDeadline)
			return ErrDeadline
		}
		err := sleep(ctx, delay)
		if err != nil {
			t.refund()
		}
		t.End(0, err)
		if err != nil || d.Outcome != Denied {
			return err
		}
	}
}

// sleep waits, or returns the context's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reset forgets a key under every policy of the limiter, on the fallback too: its
// whole quota is back.
func (l *Limiter) Reset(ctx context.Context, key string) error {
	t := Ticket{limiter: l, ctx: ctx}
	start := t.key(key)
	var shared, local []Adjustment
	for _, p := range l.policies {
		a := Adjustment{Op: Reset, Space: p.space, Key: t.keys[start:], Limit: p.Limit}
		shared = append(shared, a)
		if a.Space = p.local; p.local != nil {
			local = append(local, a)
		}
	}
	err := l.store.Adjust(ctx, shared)
	if local != nil {
		err = errors.Join(err, l.fallback.Adjust(ctx, local))
	}
	if err != nil {
		return fmt.Errorf("ratelimit: reset: %w", err)
	}
	return nil
}
