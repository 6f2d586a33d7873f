package redisstore

import (
	"fmt"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// part is the charges of a Take that are decided in one call. It owns what it holds,
// but for the spaces: what a caller left behind may have to be given back.
type part struct {
	at      []int // where they stand in the Take
	charges []ratelimit.Charge
	results []ratelimit.Result // where told is set
	asked   bool
	told    bool  // results are what the slot said, asked or only looked at
	err     error // why it said nothing
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

// receive writes down what became of the part's call, which may still be under way.
func (p *part) receive(c *call) {
	if p.err = c.failure(); p.err != nil {
		p.err = failed(p.err)
	} else {
		p.err = decodeTake(c.reply, p.charges, p.results)
	}
	p.told = p.err == nil
}

// denied reports whether a charge of the part denies the Take.
func (p *part) denied() bool {
	for i := range p.charges {
		if c := &p.charges[i]; p.told && c.Mode == ratelimit.Strike && c.Cost > 0 && !p.results[i].Allowed {
			return true
		}
	}
	return p.struck()
}

// struck reports whether a charge of the part denies the Take so that strikes count.
func (p *part) struck() bool {
	for i := range p.charges {
		if m := p.charges[i].Mode; p.told && (m == ratelimit.Enforce || m == ratelimit.Spill) && !p.results[i].Allowed {
			return true
		}
	}
	return false
}

// queues reports whether the part may charge a queue, which gives back only its last
// place: behind it somebody else may wait by then.
func (p *part) queues() bool {
	for i := range p.charges {
		c := &p.charges[i]
		if c.Mode != ratelimit.Strike && c.Limit.Algorithm == ratelimit.LeakyBucket && (c.Cost > 0 || c.Mode == ratelimit.Spill) {
			return true
		}
	}
	return false
}

// owes reports whether a Take that is denied has something to undo or to count at the
// part, which said that it charged, or did not say that it counted.
func (p *part) owes(struck bool) bool { return len(p.refunds()) > 0 || struck && p.strikes() }

// refunds returns what undoes the part's charges, the last first.
func (p *part) refunds() []ratelimit.Adjustment {
	if !p.told {
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
	if p.asked && (p.struck() || !p.told) {
		return false
	}
	for i := range p.charges {
		if c := &p.charges[i]; c.Mode == ratelimit.Strike && c.Cost > 0 && (!p.told || p.results[i].Allowed) {
			return true
		}
	}
	return false
}

// again returns the charges as they are asked for again: strikes only look where no
// denial counts.
func (p *part) again(struck bool) []ratelimit.Charge {
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
