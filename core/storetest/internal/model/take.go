package model

import (
	"context"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// take is one Take under way.
type take struct {
	store   *Store
	now     int64
	charges []ratelimit.Charge
	results []ratelimit.Result
	keys    map[name]*pending
	struck  map[name]ratelimit.Result
	over    bool // an Enforce or Spill charge does not fit
}

// pending is one key in a take: as it was, and with the charges made so far.
type pending struct {
	at     int64
	before tally
	after  tally
	ahead  int64 // units that the take put on the key so far
}

// Take makes all charges or none of them.
func (s *Store) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range charges {
		if err := s.sound(c.Space, c.Limit, c.Cost); err != nil {
			return err
		}
	}
	t := &take{store: s, now: s.instant(), charges: charges, results: results, keys: map[name]*pending{}, struck: map[name]ratelimit.Result{}}
	for i, c := range charges {
		switch {
		case c.Space.Penalty != nil || c.Mode == ratelimit.Spill:
		case c.Mode == ratelimit.Enforce && i+1 < len(charges) && charges[i+1].Mode == ratelimit.Spill:
			t.split(i)
		default:
			t.charge(i)
		}
	}
	denied := t.over
	for i, c := range charges {
		if c.Space.Penalty != nil && t.strike(i) {
			denied = true
		}
	}
	defer func() {
		for i := range results {
			results[i].Now = max(1, t.now) // 0 would be: not asked
		}
	}()
	if denied {
		t.deny()
		return nil
	}
	for n, p := range t.keys {
		if p.ahead > 0 {
			s.tallies[n] = p.after
		}
	}
	return nil
}

func (t *take) key(c ratelimit.Charge) *pending {
	n := nameOf(c.Space, c.Key)
	p := t.keys[n]
	if p == nil {
		p = &pending{at: t.now}
		if p.before = t.store.stored(n, c.Limit, t.now); p.before != nil {
			p.at = max(t.now, p.before.last())
		} else {
			p.before = t.store.fresh(c.Limit)
		}
		p.after = p.before.clone()
		t.keys[n] = p
	}
	return p
}

// fits returns the shortest wait until units fit on top of what the take put on
// the key: 0 where they do now.
func (p *pending) fits(l ratelimit.Limit, units, slack int64) int64 {
	if units > l.Capacity() {
		return never
	}
	return max(p.before.wait(l, p.at, l.Capacity()-p.ahead-units, slack), p.before.roomWait(l, p.at, p.ahead+units))
}

// charge makes one charge that does not depend on another.
func (t *take) charge(i int) {
	c := t.charges[i]
	p := t.key(c)
	if c.Cost == 0 {
		t.put(i, p, 0)
		return
	}
	slack := micros(c.MaxDelay)
	wait := p.fits(c.Limit, c.Cost, slack)
	var units int64
	switch {
	case c.Mode == ratelimit.Force:
		units = min(c.Cost, p.after.room(c.Limit, p.at))
	case wait == 0:
		units = c.Cost
	}
	t.put(i, p, units)
	if slack > 0 && wait == 0 {
		delay := p.after.wait(c.Limit, p.at, c.Limit.Capacity(), 0)
		t.results[i].Delay = told(delay, p.at, p.at) // slept: it does not grow by a step of the clock
	}
	if wait > 0 {
		t.results[i].Allowed = false
		t.results[i].RetryAfter = told(wait, p.at, t.now)
		t.over = t.over || c.Mode == ratelimit.Enforce
	}
}

// put adds units to a key and writes the result of the charge.
func (t *take) put(i int, p *pending, units int64) {
	l := t.charges[i].Limit
	var delay int64
	if units > 0 {
		if l.Algorithm == ratelimit.LeakyBucket {
			delay = p.after.wait(l, p.at, 0, 0)
		}
		p.after.put(l, p.at, units)
		p.ahead += units
	}
	t.results[i] = look(p.after, l, p.at, t.now)
	t.results[i].Receipt = receipt(p.after, l, p.at, units)
	t.results[i].Delay = told(delay, p.at, p.at) // slept: it does not grow by a step of the clock
}

// look returns the numbers of a tally.
func look(t tally, l ratelimit.Limit, at, now int64) ratelimit.Result {
	used := t.used(l, at)
	r := ratelimit.Result{
		Allowed:    true,
		Used:       used,
		Remaining:  max(0, l.Capacity()-used),
		ResetAfter: told(t.wait(l, at, 0, 0), at, now),
		Receipt:    ratelimit.Receipt{At: at},
	}
	if used > 0 {
		r.NextAfter = told(t.wait(l, at, min(used, l.Capacity())-1, 0), at, now)
	}
	return r
}

// split makes an Enforce charge and the Spill that takes the rest of it.
func (t *take) split(i int) {
	c, d := t.charges[i], t.charges[i+1]
	p := t.key(c)
	q := t.key(d)
	first := min(c.Cost, max(0, c.Limit.Capacity()-p.after.used(c.Limit, p.at)))
	before, aheadFirst := p.after.clone(), p.ahead
	t.put(i, p, first)
	rest := c.Cost - first
	if rest == 0 || q.fits(d.Limit, rest, 0) == 0 {
		t.put(i+1, q, rest)
		return
	}
	p.after, p.ahead = before, aheadFirst
	t.over = true
	t.put(i+1, q, 0)
	wait := ratelimit.Never
	if max(0, c.Limit.Capacity()-p.ahead)+max(0, d.Limit.Capacity()-q.ahead) >= c.Cost {
		wait = time.Microsecond * time.Duration(search(0, maxWait, func(wait int64) bool {
			one := max(0, remainingAt(p, c.Limit, t.now+wait)-p.ahead)
			two := max(0, remainingAt(q, d.Limit, t.now+wait)-q.ahead)
			return one+two >= c.Cost
		}))
	}
	for _, j := range []int{i, i + 1} {
		t.results[j].Allowed, t.results[j].RetryAfter = false, wait
	}
}

// remainingAt returns what the untouched state leaves at an instant.
func remainingAt(p *pending, l ratelimit.Limit, at int64) int64 {
	return max(0, l.Capacity()-p.before.used(l, max(at, p.at)))
}

// strike counts a denial where there is one, once a key, and reports whether the
// take is denied because of it.
func (t *take) strike(i int) bool {
	c := t.charges[i]
	n := nameOf(c.Space, c.Key)
	if r, ok := t.struck[n]; ok {
		t.results[i] = r
		return c.Cost > 0 && !r.Allowed
	}
	r := t.store.strikes[n]
	if r == nil || r.last-t.now > max(micros(c.Space.Penalty.Within), minBack) {
		r = &record{}
	}
	at := max(t.now, r.last)
	if c.Cost > 0 && t.over && at >= r.until {
		r = r.clone()
		r.strike(c.Space.Penalty, at)
		t.store.strikes[n] = r
	}
	t.results[i] = r.result(c.Space.Penalty, at, t.now)
	t.struck[n] = t.results[i]
	return c.Cost > 0 && !t.results[i].Allowed
}

// deny rewrites the results as looks at the untouched state.
func (t *take) deny() {
	for i, c := range t.charges {
		if c.Space.Penalty != nil {
			continue
		}
		p := t.key(c)
		r := look(p.before, c.Limit, p.at, t.now)
		r.Allowed, r.RetryAfter = t.results[i].Allowed, t.results[i].RetryAfter
		t.results[i] = r
	}
}
