package redisstore

import (
	"context"
	"errors"
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
	late    bool  // the refunds were made after the look
	err     error // why they were not, or what the look failed of
}

// giveBack undoes what the parts charged. Where the Take was denied it also fills in
// their results anew, and those of the parts that were not asked, and counts the strikes
// that are due: struck says whether the denials count.
func (t *splitTake) giveBack(denied, struck bool) {
	visits, calls := t.revisits(denied, struck)
	if visits == nil {
		return
	}
	trip := t.backTrip(time.Now().Add(t.store.timeout), calls)
	rest := trip.calls
	next := func() (c *call) {
		c, rest = &rest[0], rest[1:]
		return c
	}
	for _, v := range visits {
		if len(v.refunds) > 0 {
			v.adjust = next()
			t.encoder.adjust(v.adjust, v.refunds)
		}
		if denied {
			v.look = next()
			v.look.after = v.adjust
			v.look.whole = spills(v.charges)
			t.encoder.take(v.look, v.again(struck), true)
		}
	}
	t.store.dispatcher.do(trip)
	t.refundApart(trip.deadline, visits)
	t.lookAgain(trip.deadline, visits, struck)
	for _, v := range visits {
		lost := len(v.refunds) > 0 || v.strikes()
		v.settle()
		if v.err != nil && lost {
			ratelimit.Report{Kind: ratelimit.ReportAdjustError, Policy: v.charges[0].Space.Policy, Err: v.err}.
				To(context.WithoutCancel(t.ctx), t.store.observer)
		}
	}
}

// revisits returns the parts to go to again, and how many calls that takes.
func (t *splitTake) revisits(denied, struck bool) (visits []*revisit, calls int) {
	undoes := false
	for _, p := range t.parts {
		v := &revisit{part: p, refunds: p.refunds()}
		if len(v.refunds) > 0 {
			undoes = true
			calls++
		}
		if denied && (p.owes(struck) || !p.asked && p.err == nil) {
			calls++
		} else if len(v.refunds) == 0 {
			continue
		}
		visits = append(visits, v)
	}
	if undoes {
		t.store.counters.giveBacks.Add(1)
	}
	return visits, calls
}

// backTrip returns a trip that closing the store does not keep from being made.
func (t *splitTake) backTrip(deadline time.Time, calls int) *trip {
	trip := newTrip(t.ctx, deadline, calls)
	trip.givesBack = true
	return trip
}

// refundApart makes the refunds key by key where a slot is being moved, and notes what
// became of the others.
func (t *splitTake) refundApart(deadline time.Time, visits []*revisit) {
	var parts []corrections
	var of []*revisit
	for _, v := range visits {
		switch {
		case v.adjust == nil:
		case v.adjust.straddles():
			v.late = true
			for _, c := range (corrections{make([]int, len(v.refunds)), v.refunds}).split(byKey) {
				parts, of = append(parts, c), append(of, v)
			}
		default:
			v.refunded(v.adjust, v.refunds)
			v.late = v.err == nil && v.adjust.repeated()
		}
	}
	if parts == nil {
		return
	}
	trip := t.backTrip(deadline, len(parts))
	for i, c := range parts {
		t.encoder.adjust(&trip.calls[i], c.adjustments)
	}
	t.store.dispatcher.do(trip)
	for i, c := range parts {
		of[i].refunded(&trip.calls[i], c.adjustments)
	}
}

// refunded notes what became of refunds.
func (v *revisit) refunded(c *call, refunds []ratelimit.Adjustment) {
	err := c.failure()
	if err != nil {
		err = failed(err)
	} else {
		err = decodeAdjust(c.reply, refunds)
	}
	v.err = errors.Join(v.err, err)
}

// lookAgain repeats the looks that overtook what they were to follow, since a server
// did not know the script or could not run it at once; and, key by key, those that were
// refused since the slot is being moved. Only these have not counted their strikes.
func (t *splitTake) lookAgain(deadline time.Time, visits []*revisit, struck bool) {
	var parts []*part
	var of []*revisit
	for _, v := range visits {
		if v.look == nil || v.err != nil || !v.late && !v.look.straddles() {
			continue
		}
		by := byTag // all of it
		if moving := v.look.straddles() || v.adjust != nil && v.adjust.straddles(); moving && !spills(v.charges) {
			by = byKey
		}
		at := make([]int, len(v.charges))
		for i := range at {
			at[i] = i
		}
		smaller, _ := split(v.again(struck && v.look.straddles()), at, by) // no error: a Spill stays with its charge
		for _, p := range smaller {
			parts, of = append(parts, p), append(of, v)
		}
		v.look = nil
	}
	if parts == nil {
		return
	}
	trip := t.backTrip(deadline, len(parts))
	for i, p := range parts {
		trip.calls[i].whole = spills(p.charges)
		t.encoder.take(&trip.calls[i], p.charges, true)
	}
	t.store.dispatcher.do(trip)
	for i, p := range parts {
		v := of[i]
		if p.receive(&trip.calls[i]); p.err != nil {
			v.err = errors.Join(v.err, p.err)
			continue
		}
		for j, k := range p.at {
			v.results[k] = p.results[j]
		}
	}
}

// settle writes down what the second trip brought. Where it failed, the part's results
// remain as they were: what they say was charged may still be.
func (v *revisit) settle() {
	if v.adjust != nil {
		for i := range v.results {
			v.results[i].Receipt.Units = 0 // not to be given back once more
		}
	}
	if v.err == nil && v.look != nil {
		if v.err = v.look.failure(); v.err != nil {
			v.err = failed(v.err)
		} else {
			v.err = decodeTake(v.look.reply, v.charges, v.results)
		}
	}
	v.told = v.told || v.err == nil
}
