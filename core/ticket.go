package ratelimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Ticket is one request's way through the limiter: what was decided, and what the
// adapter is to do about it, in this order: Wait; Merge; the headers and, where
// Status is not 0, the body, else the handler; End.
//
// A ticket belongs to one goroutine. After End it is not to be touched: Begin's
// are used again.
type Ticket struct {
	limiter *Limiter
	ctx     context.Context
	view    View // nil: no request
	own     bool // the caller's to keep: never pooled

	outcome Outcome
	status  int
	delay   time.Duration
	binding int
	watched uintptr // the request, while it is watched

	policies  []*policy
	keys      []byte
	charges   []Charge
	results   []Result
	decisions []Decision

	rendering
}

const (
	roomForKey = 128  // a key function finds so much at least
	longKey    = 64   // what is longer is hashed
	keepKeys   = 4096 // a larger buffer is not kept for the next request
)

// The first byte of a key, so that no key of one kind meets one of another.
const (
	keyPlain  = '='
	keyHashed = '#'
	keyNone   = '!' // shared by all requests without one
)

// ticket returns an empty ticket, used before if there is one.
func (l *Limiter) ticket(ctx context.Context) *Ticket {
	t, ok := l.family.tickets.Get().(*Ticket)
	if !ok {
		t = new(Ticket)
	}
	t.limiter, t.ctx = l, ctx
	return t
}

// add asks a policy about a request, and reports whether to go on with the next.
func (t *Ticket) add(p *policy, r Request) bool {
	r.policy = p.Name
	if p.If != nil && !p.If(r) {
		return true
	}
	start := t.beginKey(keyPlain)
	key, err := p.Key(t.keys[start+1:], r)
	if err != nil && errIs(err, ErrNoKey) {
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
	case p.NoKey == NoKeyDeny && p.mode == Enforce:
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

// beginKey starts a key of a kind, with room for what a key function appends.
func (t *Ticket) beginKey(kind byte) (start int) {
	start = len(t.keys)
	t.keys = append(slices.Grow(t.keys, roomForKey), kind)
	return start
}

// endKey makes what a key function returned the ticket's, wherever it was put.
func (t *Ticket) endKey(start int, key []byte) {
	from := start + 1
	if room := t.keys[from : from+1]; len(key) > 0 && &key[0] == &room[0] && len(key) <= cap(t.keys)-from {
		t.keys = t.keys[:from+len(key)]
	} else {
		t.keys = append(t.keys[:from], key...)
	}
	t.shorten(start)
}

// key adds a key that is a string.
func (t *Ticket) key(key string) (start int) {
	start = t.beginKey(keyPlain)
	t.keys = append(t.keys, key...)
	t.shorten(start)
	return start
}

// shorten hashes a long key: what a client sends does not decide how much is stored.
func (t *Ticket) shorten(start int) {
	if len(t.keys)-start-1 > longKey {
		sum := sha256.Sum256(t.keys[start+1:])
		t.keys = hex.AppendEncode(append(t.keys[:start], keyHashed), sum[:20])
	}
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
		if c, r := &t.charges[i], &t.results[i]; t.outcome == Allowed && c.Mode == Enforce && !r.Allowed {
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

// shownKey returns a key as observers see it: as the key function made it, or, of
// the two other kinds, "!" and "#" with a hash.
func shownKey(key []byte) []byte {
	if key[0] == keyPlain {
		return key[1:]
	}
	return key
}

// decide fills in the i-th decision.
func (t *Ticket) decide(i int) {
	p, c, r, d := t.policies[i], &t.charges[i], &t.results[i], &t.decisions[i]
	*d = Decision{
		Policy: p.Name, Outcome: t.outcome, Limit: c.Limit, Cost: c.Cost, Fits: r.Allowed,
		Used: r.Used, Remaining: r.Remaining,
		RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter, NextAfter: r.NextAfter, Delay: r.Delay,
		at: r.Receipt.At, mode: c.Mode, closed: t.status == 503, limiter: t.limiter,
	}
	if t.outcome == Allowed && c.Mode == Enforce {
		t.delay = max(t.delay, r.Delay)
	}
}

// storeFailed applies the policies' failure modes: one that is closed closes all, but
// for shadows, which deny nobody.
func (t *Ticket) storeFailed(err error) {
	t.outcome = Unavailable
	clear(t.results)
	for _, p := range t.policies {
		if p.OnFailure == FailClosed && p.mode != Observe {
			t.status = 503
		}
	}
	if t.ctx.Err() == nil { // a client that hung up is no failure of the store's
		t.limiter.reporter.Reported(t.ctx, Report{Kind: ReportStoreError, Err: err})
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

// binding returns the index of the decision to tell: the one that denied with the
// longest wait, else the one with the smallest share left. What cannot deny is told
// only where nothing else can, and a shadow before nothing.
func binding(ds []Decision, o Outcome) int {
	best := 0
	for i := 1; i < len(ds); i++ {
		if ds[i].outranks(&ds[best], o) {
			best = i
		}
	}
	return best
}

func (d *Decision) outranks(o *Decision, outcome Outcome) bool {
	if a, b := d.mode.rank(), o.mode.rank(); a != b {
		return a < b
	}
	if outcome == Denied {
		if d.Fits != o.Fits {
			return o.Fits
		}
		if !d.Fits && d.RetryAfter != o.RetryAfter {
			return d.RetryAfter > o.RetryAfter
		}
	}
	return d.Remaining*o.Limit.Capacity() < o.Remaining*d.Limit.Capacity()
}

// rank orders modes by how much a client is concerned.
func (m Mode) rank() int {
	switch m {
	case Observe:
		return 2
	case Force:
		return 1
	default:
		return 0
	}
}

// Outcome returns how the request was decided.
func (t *Ticket) Outcome() Outcome { return t.outcome }

// Status returns the status to answer with, 429, 503 or 500; or 0, and the request
// goes on.
func (t *Ticket) Status() int { return t.status }

// Delay returns how long the request is to wait before it goes on.
func (t *Ticket) Delay() time.Duration { return t.delay }

// Wait waits for Delay. Where ctx ends first it gives back what was charged, makes
// the ticket one that answers 503, and returns the context's error.
func (t *Ticket) Wait(ctx context.Context) error {
	if t.delay <= 0 {
		return nil
	}
	err := sleep(ctx, t.delay)
	if err != nil {
		t.refund()
		t.outcome, t.status, t.delay = Unavailable, 503, 0
	}
	return err
}

// refund gives back all that was charged.
func (t *Ticket) refund() {
	var adjustments []Adjustment
	for i := range t.results {
		if r := &t.results[i].Receipt; r.Units > 0 {
			c := &t.charges[i]
			adjustments = append(adjustments, Adjustment{
				Op: Refund, Space: c.Space, Key: c.Key, Limit: c.Limit, Units: r.Units, Receipt: *r,
			})
			r.Units = 0
		}
	}
	if adjustments == nil {
		return
	}
	ctx := context.WithoutCancel(t.ctx)
	if err := t.limiter.store.Adjust(ctx, adjustments); err != nil {
		t.limiter.reporter.Reported(ctx, Report{Kind: ReportAdjustError, Err: err})
	}
}

// Decision returns the decision that binds: the one that denied with the longest
// wait, else the one with the smallest share left. It is the zero Decision, Skipped,
// where no policy applied.
func (t *Ticket) Decision() Decision {
	if len(t.decisions) == 0 {
		return Decision{}
	}
	return t.decisions[t.binding]
}

// Decisions returns the decisions of all policies that applied, in their order.
func (t *Ticket) Decisions() iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		for _, d := range t.decisions {
			if !yield(d) {
				return
			}
		}
	}
}

// End says that the request is over: with what status (0: not known) and what error
// of the handler's. It is called exactly once, in a defer without recover, so that
// a panic passes with its stack.
func (t *Ticket) End(status int, err error) {
	if t.own || t.limiter == nil {
		return
	}
	if t.watched != 0 {
		t.limiter.family.doubled.end(t.watched)
	}
	pool := &t.limiter.family.tickets
	if cap(t.keys) > keepKeys {
		t.keys = nil
	}
	clear(t.charges)
	clear(t.policies)
	*t = Ticket{
		keys: t.keys[:0], charges: t.charges[:0], results: t.results[:0],
		policies: t.policies[:0], decisions: t.decisions[:0], rendering: t.rendering.reset(),
	}
	pool.Put(t)
}
