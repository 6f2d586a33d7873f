package redisstore

import (
	"context"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// revisit is the second trip to a part, once it is known that the Take is not
// admitted: it undoes what the part charged, and asks for the untouched state.
type revisit struct {
	*part
	refunds []ratelimit.Adjustment
	adjust  *call // nil: there is nothing to undo
	look    *call // nil: nobody will see the answer
}

// giveBack undoes what the parts charged. Where the Take was denied, and did not
// fail, it fills in their results anew and counts the strikes that are due: struck says
// whether the denials count, as those by bans do not.
func (s *Store) giveBack(ctx context.Context, parts []*part, denied, struck bool) {
	var visits []revisit
	calls := 0
	for _, p := range parts {
		v := revisit{part: p, refunds: p.refunds()}
		switch n := len(v.refunds); {
		case n > 0 && denied:
			calls += 2
		case n > 0 || denied && struck && p.strikes():
			calls++
		default:
			continue
		}
		visits = append(visits, v)
	}
	if visits == nil {
		return
	}
	s.counters.giveBacks.Add(1)
	t := newTrip(ctx, time.Now().Add(s.timeout), calls)
	rest := t.calls
	next := func() (c *call) {
		c, rest = &rest[0], rest[1:]
		c.whole = true // all of it, or nothing that could be told
		return c
	}
	for i := range visits {
		v := &visits[i]
		if len(v.refunds) > 0 {
			v.adjust = next()
			s.encoder.adjust(v.adjust, v.refunds)
		}
		if denied {
			v.look = next()
			v.look.after = v.adjust
			s.encoder.take(v.look, v.asked(struck), true)
		}
	}
	s.dispatcher.do(t)
	s.lookAgain(ctx, t.deadline, visits)
	for i := range visits {
		if err := visits[i].settle(); err != nil {
			ratelimit.Report{Kind: ratelimit.ReportAdjustError, Policy: visits[i].charges[0].Space.Policy, Err: err}.
				To(context.WithoutCancel(ctx), s.observer)
		}
	}
}

// lookAgain repeats the looks that overtook what they were to follow, since a server
// did not know the script or could not run it at once. Strikes have been counted.
func (s *Store) lookAgain(ctx context.Context, deadline time.Time, visits []revisit) {
	var late []*revisit
	for i := range visits {
		if v := &visits[i]; v.look != nil && v.adjust != nil && v.adjust.failure() == nil && v.adjust.repeated() {
			late = append(late, v)
		}
	}
	if late == nil {
		return
	}
	t := newTrip(ctx, deadline, len(late))
	for i, v := range late {
		v.look = &t.calls[i]
		v.look.whole = true
		s.encoder.take(v.look, v.asked(false), true)
	}
	s.dispatcher.do(t)
}

// settle writes down what the second trip brought. Where it failed, the part's results
// remain as they were: what they say was charged may still be.
func (v *revisit) settle() error {
	if v.adjust != nil {
		for i := range v.results {
			v.results[i].Receipt.Units = 0 // not to be given back once more
		}
		if err := v.adjust.failure(); err != nil {
			return failed(err)
		}
		if err := decodeAdjust(v.adjust.reply, v.refunds); err != nil {
			return err
		}
	}
	if v.look == nil {
		return nil
	}
	if err := v.look.failure(); err != nil {
		return failed(err)
	}
	return decodeTake(v.look.reply, v.charges, v.results)
}

// refunds returns what undoes the part's charges, the last first.
func (p *part) refunds() []ratelimit.Adjustment {
	if p.err != nil {
		return nil
	}
	var refunds []ratelimit.Adjustment
	for i := len(p.charges) - 1; i >= 0; i-- {
		if c, r := &p.charges[i], &p.results[i].Receipt; r.Units > 0 {
			refunds = append(refunds, ratelimit.Adjustment{
				Op: ratelimit.Refund, Space: c.Space, Key: c.Key, Limit: c.Limit, Units: r.Units, Receipt: *r,
			})
		}
	}
	return refunds
}

// strikes reports whether the part holds a strike that a denial elsewhere completes. A
// part that was denied by itself has counted its own, and a ban counts nothing.
func (p *part) strikes() bool {
	if p.struck() {
		return false
	}
	for i := range p.charges {
		if c := &p.charges[i]; c.Mode == ratelimit.Strike && c.Cost > 0 && p.results[i].Allowed {
			return true
		}
	}
	return false
}

// asked returns the charges as they are asked for again: strikes only look where no
// denial counts.
func (p *part) asked(struck bool) []ratelimit.Charge {
	if struck {
		return p.charges
	}
	charges := make([]ratelimit.Charge, len(p.charges))
	for i, c := range p.charges {
		if c.Mode == ratelimit.Strike {
			c.Cost = 0
		}
		charges[i] = c
	}
	return charges
}
