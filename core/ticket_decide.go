package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// add asks a policy about a request, and reports whether to go on with the next.
func (t *Ticket) add(p *policy, r Request) bool {
	r.policy = p.Name
	if p.If != nil && !p.If(r) {
		return true
	}
	start := t.beginKey(keyPlain)
	key, err := p.Key(t.keys[start+1:], r)
	if err != nil && p.NoKey != NoKeySkip && errIs(err, ErrNoKey) {
		p.missing(r)
	}
	switch {
	case err == nil:
		t.endKey(start, key)
		if !p.keyed.Load() {
			p.keyed.Store(true)
		}
	case !errIs(err, ErrNoKey):
		return t.fail(p, ReportKeyError, err)
	case p.NoKey == NoKeySkip:
		t.keys = t.keys[:start]
		return true
	case p.NoKey == NoKeyDeny && p.mode.denies():
		t.keys[start] = keyNone
		t.deny(p, t.keys[start:])
		return false
	default:
		t.keys[start] = keyNone
	}

	limit := p.Limit
	if p.Vary != nil {
		if limit, err = p.vary(r); err != nil {
			return t.fail(p, ReportLimitError, err)
		}
	}
	cost := int64(1)
	if p.Cost != nil {
		if cost, err = p.Cost(r); err == nil && cost < 0 {
			err = fmt.Errorf("ratelimit: the cost is negative: %d", cost)
		}
		if err != nil {
			return t.fail(p, ReportCostError, err)
		}
	}
	t.charge(p, start, limit, cost)
	return true
}

const suspiciouslyKeyless = 100

// missing notes a request without a key, as long as none had one.
func (p *policy) missing(r Request) {
	if !p.keyed.Load() && p.keyless.Add(1) == suspiciouslyKeyless {
		r.Misconfigured(CodeNeverKeyed, "none of the first 100 requests had a key: all of them are treated alike, see Policy.NoKey")
	}
}

// vary asks for the limit in force.
func (p *policy) vary(r Request) (Limit, error) {
	l := p.Vary(r, p.Limit)
	l.Quota = min(l.Quota, p.Most.Quota)
	if most := p.Most.Capacity(); l.Capacity() > most {
		l.Burst = most
	}
	if l.Algorithm != p.Limit.Algorithm || l.Window != p.Limit.Window {
		return l, &ConfigError{Field: "Vary", Reason: "must keep the algorithm and the window"}
	}
	if l == p.Limit {
		return l, nil
	}
	return l, l.Validate()
}

// charge adds a charge on the key that begins at start.
func (t *Ticket) charge(p *policy, start int, limit Limit, cost int64) {
	t.policies = append(t.policies, p)
	t.charges = append(t.charges, Charge{
		Space: p.space, Key: t.keys[start:len(t.keys):len(t.keys)],
		Limit: limit, Cost: cost, MaxDelay: p.delay, Mode: p.mode,
	})
}

// take asks the store, and makes the decisions.
func (t *Ticket) take() {
	n := len(t.charges)
	if n == 0 {
		return
	}
	t.results = slices.Grow(t.results[:0], n)[:n]
	clear(t.results)
	t.outcome = Allowed
	if err := t.limiter.store.Take(t.ctx, t.charges, t.results); err != nil {
		t.storeFailed(err)
	}
	for i := range t.results {
		if t.outcome == Allowed && t.decided(i) && t.charges[i].Mode.denies() && !t.results[i].Allowed {
			t.outcome, t.status = Denied, 429
		}
	}
	t.decisions = slices.Grow(t.decisions[:0], n)[:n]
	for i := range t.decisions {
		t.decide(i)
	}
	t.binding = binding(t.decisions, t.outcome)
	if o := t.limiter.observer; o != nil {
		for i := range t.decisions {
			o.Decided(t.ctx, shownKey(t.charges[i].Key), t.decisions[i])
		}
	}
}

// decided reports whether a store decided about the i-th charge.
func (t *Ticket) decided(i int) bool { return !t.failed || t.charges[i].Space == t.policies[i].local }

// decide fills in the i-th decision.
func (t *Ticket) decide(i int) {
	p, c, r, d := t.policies[i], &t.charges[i], &t.results[i], &t.decisions[i]
	*d = Decision{ // within bounds: what a store gets wrong must not reach a client
		Policy: p.Name, Outcome: t.outcome, Limit: c.Limit, Cost: c.Cost, Fits: r.Allowed,
		Used: r.Used, Remaining: min(max(0, r.Remaining), c.Limit.Capacity()),
		RetryAfter: max(0, r.RetryAfter), ResetAfter: max(0, r.ResetAfter), NextAfter: max(0, r.NextAfter),
		Local: c.Space == p.local, at: r.Now, mode: c.Mode, closed: t.status == 503, limiter: t.limiter,
	}
	switch {
	case t.outcome == Unavailable && d.Local:
		d.Outcome = Allowed // a shadow's, while the rest fails open
	case t.outcome != Errored && !t.decided(i):
		d.Outcome = Unavailable
	}
	if t.outcome == Allowed && c.Mode.denies() { // a shadow's queue holds nobody up
		d.Delay = r.Delay
		t.delay = max(t.delay, r.Delay)
	}
}

// storeFailed applies the policies' failure modes: one that is closed closes all, but
// for shadows, which deny nobody; else what is local is decided on the fallback. What
// was our fault is no outage, and must not open a limit for good: 500.
func (t *Ticket) storeFailed(err error) {
	t.failed = true
	t.outcome = Unavailable
	clear(t.results)
	if !errors.Is(t.ctx.Err(), context.Canceled) { // a client that hung up is no failure of the store's
		t.limiter.reporter.Reported(t.ctx, Report{Kind: ReportStoreError, Err: err})
	}
	if errors.Is(err, ErrMisuse) {
		t.outcome, t.status = Errored, 500
		return
	}
	local := 0
	for _, p := range t.policies {
		switch {
		case p.OnFailure == FailClosed && p.mode != Observe:
			t.status = 503
		case p.local != nil:
			local++
		}
	}
	if t.status == 0 && local > 0 {
		t.takeLocally(local)
	}
}

// takeLocally asks the fallback about the policies that fail local, of which there
// are n. Their charges become those that were made there.
func (t *Ticket) takeLocally(n int) {
	charges, results := make([]Charge, 0, n), make([]Result, n)
	for i, p := range t.policies {
		if p.local != nil {
			c := t.charges[i]
			c.Space, c.Limit = p.local, c.Limit.part(t.limiter.share)
			charges = append(charges, c)
		}
	}
	if err := t.limiter.fallback.Take(t.ctx, charges, results); err != nil {
		t.limiter.reporter.Reported(t.ctx, Report{Kind: ReportStoreError, Err: fmt.Errorf("ratelimit: fallback: %w", err)})
		return
	}
	n = 0
	for i, p := range t.policies {
		if p.local == nil {
			continue
		}
		t.charges[i], t.results[i] = charges[n], results[n]
		n++
		if p.mode.denies() {
			t.outcome = Allowed // unless one of them says no
		}
	}
}

// fail answers 500: the app's own function failed, and guessing could be worse.
func (t *Ticket) fail(p *policy, kind ReportKind, err error) bool {
	t.refuse(p, Errored, 500)
	t.limiter.reporter.Reported(t.ctx, Report{Kind: kind, Policy: p.Name, Err: err})
	return false
}

// deny answers a request without a key, which no wait will help.
func (t *Ticket) deny(p *policy, key []byte) {
	t.refuse(p, Denied, 429)
	if o := t.limiter.observer; o != nil {
		o.Decided(t.ctx, shownKey(key), t.decisions[0])
	}
}

// refuse ends the decision before the store was asked.
func (t *Ticket) refuse(p *policy, o Outcome, status int) {
	t.charges, t.policies = t.charges[:0], t.policies[:0]
	t.outcome, t.status, t.binding = o, status, 0
	t.decisions = append(t.decisions[:0], Decision{Policy: p.Name, Outcome: o, Limit: p.Limit, RetryAfter: Never, mode: p.mode, limiter: t.limiter})
}
