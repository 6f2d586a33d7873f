package model

import (
	"context"
	"errors"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Adjust corrects charges.
func (s *Store) Adjust(_ context.Context, adjustments []ratelimit.Adjustment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.instant()
	var errs []error
	for i := range adjustments {
		errs = append(errs, s.adjust(now, &adjustments[i]))
	}
	return errors.Join(errs...)
}

func (s *Store) adjust(now int64, a *ratelimit.Adjustment) error {
	n, l := nameOf(a.Space, a.Key), a.Limit
	if a.Op == ratelimit.Reset && len(a.Space.Limits) > 0 {
		l = a.Space.Limits[0] // a Reset needs none
	}
	if err := s.sound(a.Space, l, a.Units); err != nil {
		return err
	}
	if a.Op == ratelimit.Reset {
		delete(s.tallies, n)
		delete(s.strikes, n)
		return nil
	}
	t := s.stored(n, a.Limit, now)
	at := now
	if t != nil {
		at = max(now, t.last())
	}
	switch a.Op {
	case ratelimit.Refund:
		if t != nil && !t.refund(a.Limit, at, a.Units, &a.Receipt) {
			delete(s.tallies, n)
		}
		a.Receipt.Units = max(0, a.Receipt.Units-a.Units)
	case ratelimit.Extra:
		a.Receipt = s.force(n, t, a.Limit, at, a.Units)
	case ratelimit.Renew:
		if units := a.Receipt.Units; units > 0 {
			if t != nil {
				moved := a.Receipt
				if !t.refund(a.Limit, at, units, &moved) {
					t = nil
				}
			}
			a.Receipt = s.force(n, t, a.Limit, at, units)
		}
	}
	return nil
}

// force adds units, as far as there is room, to a tally that may be nil.
func (s *Store) force(n name, t tally, l ratelimit.Limit, at, units int64) ratelimit.Receipt {
	if t == nil {
		t = s.fresh(l)
	}
	units = min(units, t.room(l, at))
	if units > 0 {
		t.put(l, at, units)
		s.tallies[n] = t
	}
	return receipt(t, l, at, units)
}

// receipt returns what tells a charge that was just made.
func receipt(t tally, l ratelimit.Limit, at, units int64) ratelimit.Receipt {
	r := ratelimit.Receipt{At: at, Units: units}
	if queue, ok := t.(*bucket); ok && queue.queue && units > 0 {
		r.End = queue.end(l, at)
	}
	return r
}
