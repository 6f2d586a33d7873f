package redisstore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// splitTake is a Take that is decided in several calls, on a goroutine of its own: its
// caller may leave before all is known, and what was charged then is given back.
type splitTake struct {
	store    *Store
	ctx      context.Context // its values are what hooks of the client see
	deadline time.Time       // when the caller leaves
	encoder  encoder         // of the Take's instant
	parts    []*part
	size     int // charges

	first chan outcome // what the parts came to, or what is known of it at the deadline
	last  chan outcome // the same once all is given back that had to be
	told  bool         // first was sent
	err   error        // with this error: whatever comes later, nobody was admitted
}

// outcome is what a caller is told, in memory that is its own.
type outcome struct {
	results []ratelimit.Result
	err     error
}

// takeSplit decides a Take in several calls. If one denies, the Take is denied whatever
// becomes of the others, and what they charged is given back.
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
	t := &splitTake{
		store: s, ctx: ctx, deadline: deadline, encoder: s.encoder, parts: parts, size: len(charges),
		first: make(chan outcome, 1), last: make(chan outcome, 1),
	}
	if s.encoder.now != nil {
		now := s.encoder.now() // here, where it may panic
		t.encoder.now = func() time.Time { return now }
	}
	if !s.dispatcher.begin() {
		return errClosed
	}
	s.counters.split.Add(1)
	go func() {
		defer s.dispatcher.end()
		t.run()
	}()
	o := t.wait()
	copy(results, o.results)
	return o.err
}

// wait waits until all is given back that has to be, at most until the deadline. Then
// the first outcome is known already, or is as soon as the trip under way ends, which
// has the same deadline.
func (t *splitTake) wait() outcome {
	timer := time.NewTimer(time.Until(t.deadline))
	defer timer.Stop()
	select {
	case o := <-t.last:
		return o
	case <-timer.C:
		return <-t.first
	}
}

// run asks all parts, makes one decision of theirs, and gives back what it has to.
func (t *splitTake) run() {
	for due, looks := t.due(); len(due) > 0; due, looks = t.due() {
		t.ask(due, looks)
	}
	t.tell()
	denied, struck, _ := t.verdict()
	switch {
	case t.err != nil:
		t.giveBack(false, false) // also where all admit after the caller left
	case denied:
		t.giveBack(true, struck)
	}
	t.last <- outcome{t.results(func(*part) bool { return false }), t.err}
}

// due returns the parts to be asked next; none once the Take is denied. Those that may
// charge a queue are only looked at while there are others: a queue cannot be relied upon
// to give back. Of two such a denial by one may leave places of the other taken until
// they drain.
func (t *splitTake) due() (due []*part, looks bool) {
	denied, _, err := t.verdict()
	if denied {
		return nil, false
	}
	for _, p := range t.parts {
		if !p.asked && p.err == nil {
			due = append(due, p)
			looks = looks || !p.queues()
		}
	}
	if err != nil && !looks {
		return nil, false
	}
	return due, looks
}

// ask sends parts all at once, where looks is set queues without a charge. Those whose
// slot is being moved it splits, key by key, to be asked once more. It waits for whatever
// is under way, also after the deadline: it may have charged.
func (t *splitTake) ask(due []*part, looks bool) {
	trip := newTrip(t.ctx, t.deadline, len(due))
	for i, p := range due {
		c := &trip.calls[i]
		c.whole = spills(p.charges)
		if looks && p.queues() {
			t.encoder.take(c, p.again(false), true)
		} else {
			p.asked = true
			t.encoder.take(c, p.charges, false)
		}
	}
	if !t.store.dispatcher.do(trip) {
		for i, p := range due {
			p.receive(&trip.calls[i])
		}
		t.tell()
		<-trip.done
	}
	for i, p := range due {
		c := &trip.calls[i]
		if t.store.learnGrouping(c, c.err) == nil {
			p.receive(c)
			continue
		}
		smaller, _ := split(p.charges, p.at, byKey) // no error: it is whole where it has a Spill
		j := slices.Index(t.parts, p)
		t.parts = slices.Replace(t.parts, j, j+1, smaller...)
	}
}

// verdict returns whether the Take is denied, by what is known, and whether the denial
// counts, as those by bans do not. It returns an error where neither that nor the
// contrary can be told.
func (t *splitTake) verdict() (denied, struck bool, err error) {
	var bad []error
	for _, p := range t.parts {
		denied = denied || p.denied()
		struck = struck || p.struck()
		if p.err != nil && !slices.Contains(bad, p.err) {
			bad = append(bad, p.err)
		}
	}
	if denied {
		return true, struck, nil
	}
	return false, false, errors.Join(bad...)
}

// tell tells the first outcome, once. What is not over at a part is not told: its
// charges are as if they had not been asked.
func (t *splitTake) tell() {
	if t.told {
		return
	}
	denied, struck, err := t.verdict()
	t.told, t.err = true, err
	t.first <- outcome{t.results(func(p *part) bool { return denied && p.owes(struck) && !p.denied() }), err}
}

// results returns what the parts said, but for those that are open.
func (t *splitTake) results(open func(*part) bool) []ratelimit.Result {
	all := make([]ratelimit.Result, t.size)
	for _, p := range t.parts {
		asked := p.told && !open(p)
		for i, j := range p.at {
			all[j] = ratelimit.Result{Allowed: true}
			if asked {
				all[j] = p.results[i]
			}
		}
	}
	return all
}
