package redisstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// part is the charges of a Take that are decided in one call. It owns what it holds,
// but for the spaces: what a caller left behind may have to be given back.
type part struct {
	at      []int // where they stand in the Take
	charges []ratelimit.Charge
	results []ratelimit.Result
	err     error
}

// split returns the parts of charges. A Spill belongs to the charge before it.
func split(charges []ratelimit.Charge, at []int, by grouping) ([]*part, error) {
	name := func(i int) string { return by(charges[i].Space, charges[i].Key) }
	for i := range charges {
		if charges[i].Mode == ratelimit.Spill && name(i) != name(i-1) {
			return nil, fmt.Errorf("%w: policy %q", errApart, charges[i].Space.Policy)
		}
	}
	groups := group(len(charges), name)
	parts := make([]*part, len(groups))
	for i, g := range groups {
		parts[i] = &part{at: pick(at, g), charges: pick(charges, g), results: make([]ratelimit.Result, len(g))}
	}
	return parts, nil
}

// takeSplit decides a Take in several calls. If one denies, what the others charged is
// given back.
func (s *Store) takeSplit(ctx context.Context, deadline time.Time, by grouping, charges []ratelimit.Charge, results []ratelimit.Result) error {
	own := make([]ratelimit.Charge, len(charges))
	at := make([]int, len(charges))
	for i, c := range charges {
		c.Key = bytes.Clone(c.Key)
		own[i], at[i] = c, i
	}
	parts, err := split(own, at, by)
	if err != nil {
		return err
	}
	if !s.dispatcher.begin() {
		return errClosed
	}
	s.counters.split.Add(1)
	type outcome struct {
		parts []*part
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer s.dispatcher.end()
		parts, err := s.takeParts(ctx, deadline, parts)
		done <- outcome{parts, err}
	}()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case o := <-done:
		for _, p := range o.parts {
			for i, j := range p.at {
				results[j] = p.results[i]
			}
		}
		return o.err
	case <-timer.C:
		return errTimeout // the goroutine gives back what there is
	}
}

// takeParts asks all parts and makes one decision of theirs.
func (s *Store) takeParts(ctx context.Context, deadline time.Time, parts []*part) ([]*part, error) {
	parts = s.ask(ctx, deadline, parts)
	var bad []error
	denied, struck := false, false
	for _, p := range parts {
		if p.err != nil {
			bad = append(bad, p.err)
			continue
		}
		denied = denied || p.denied()
		struck = struck || p.struck()
	}
	if bad != nil || denied {
		s.giveBack(ctx, parts, denied && bad == nil, struck)
	}
	return parts, errors.Join(bad...)
}

// ask sends all parts at once, and those again, key by key, whose slot is being moved.
// It waits for whatever is under way, also after the deadline: it may have charged.
func (s *Store) ask(ctx context.Context, deadline time.Time, parts []*part) []*part {
	var answered []*part
	for len(parts) > 0 {
		t := newTrip(ctx, deadline, len(parts))
		for i, p := range parts {
			t.calls[i].whole = spills(p.charges)
			s.encoder.take(&t.calls[i], p.charges, false)
		}
		if !s.dispatcher.do(t) {
			<-t.done
		}
		var next []*part
		for i, p := range parts {
			c := &t.calls[i]
			if s.regroup(c, c.err) != nil {
				smaller, _ := split(p.charges, p.at, byKey) // no error: it is whole where it has a Spill
				next = append(next, smaller...)
				continue
			}
			p.err = c.err
			if p.err != nil {
				p.err = failed(p.err)
			} else {
				p.err = decodeTake(c.reply, p.charges, p.results)
			}
			answered = append(answered, p)
		}
		parts = next
	}
	return answered
}

// denied reports whether a charge of the part denies the Take.
func (p *part) denied() bool {
	for i := range p.charges {
		if c := &p.charges[i]; c.Mode == ratelimit.Strike && c.Cost > 0 && !p.results[i].Allowed {
			return true
		}
	}
	return p.struck()
}

// struck reports whether a charge of the part denies the Take so that strikes count.
func (p *part) struck() bool {
	for i := range p.charges {
		if m := p.charges[i].Mode; (m == ratelimit.Enforce || m == ratelimit.Spill) && !p.results[i].Allowed {
			return true
		}
	}
	return false
}
