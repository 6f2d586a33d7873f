package ratelimit

import (
	"context"
	"iter"
	"time"
)

// Ticket is one request's way through the limiter: what was decided, and what the
// adapter is to do about it, in this order: Wait; Merge; the headers and, where
// Status is not 0, the body, else the handler; End.
//
// A ticket belongs to one goroutine. After End it is not to be touched: Begin's
// are used again, and a second End would end another request's.
type Ticket struct {
	limiter *Limiter
	ctx     context.Context
	view    View // nil: no request
	own     bool // the caller's to keep: never pooled

	outcome Outcome
	status  int
	delay   time.Duration
	failed  bool // the store did: only what the fallback holds is decided
	binding int
	watched uintptr // the request, while it is watched

	policies  []*policy
	keys      []byte
	charges   []Charge
	results   []Result
	decisions []Decision

	rendering
}

// ticket returns an empty ticket, used before if there is one.
func (l *Limiter) ticket(ctx context.Context) *Ticket {
	t, ok := l.family.tickets.Get().(*Ticket)
	if !ok {
		t = new(Ticket)
	}
	t.limiter, t.ctx = l, ctx
	return t
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

// refund gives back all that was charged, to the stores that charged it.
func (t *Ticket) refund() {
	var shared, local []Adjustment
	for i := len(t.results) - 1; i >= 0; i-- { // the last first: a queue gives back from its end
		r, c := &t.results[i].Receipt, &t.charges[i]
		if r.Units == 0 {
			continue
		}
		a := Adjustment{Op: Refund, Space: c.Space, Key: c.Key, Limit: c.Limit, Units: r.Units, Receipt: *r}
		r.Units = 0
		if c.Space == t.policies[i].local {
			local = append(local, a)
		} else {
			shared = append(shared, a)
		}
	}
	t.adjust(t.limiter.store, shared)
	t.adjust(t.limiter.fallback, local)
}

func (t *Ticket) adjust(s Store, adjustments []Adjustment) {
	if adjustments == nil {
		return
	}
	ctx := context.WithoutCancel(t.ctx)
	if err := s.Adjust(ctx, adjustments); err != nil {
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

// WantsStatus reports whether End is to be told the status of the answer: adapters
// whose frameworks do not know it wrap the response only then.
func (t *Ticket) WantsStatus() bool {
	return t.limiter != nil && t.limiter.ends != nil && t.outcome != Skipped && (t.view != nil || t.own)
}

// End says that the request is over: with what status (0: not known) and what error
// of the handler's. It is called exactly once, in a defer without recover, so that
// a panic passes with its stack.
func (t *Ticket) End(status int, err error) {
	if t.limiter == nil {
		return
	}
	if t.WantsStatus() {
		t.limiter.ends.Ended(t.ctx, Ended{Outcome: t.outcome, Status: status, Err: err})
	}
	if t.watched != 0 {
		t.limiter.family.doubled.end(t.watched)
	}
	if t.own {
		t.limiter = nil // a second End does nothing
		return
	}
	pool := &t.limiter.family.tickets
	t.reset()
	pool.Put(t)
}

// reset makes the ticket as a new one, but for the memory that it has.
func (t *Ticket) reset() {
	if cap(t.keys) > keepKeys {
		t.keys = nil
	}
	clear(t.charges)
	clear(t.policies)
	t.keys, t.charges, t.results = t.keys[:0], t.charges[:0], t.results[:0]
	t.policies, t.decisions = t.policies[:0], t.decisions[:0]
	t.limiter, t.ctx, t.view = nil, nil, nil
	t.outcome, t.status, t.delay, t.failed, t.binding, t.watched = Skipped, 0, 0, false, 0, 0
	t.text, t.headers, t.done, t.retry = t.text[:0], t.headers[:0], false, 0
}
