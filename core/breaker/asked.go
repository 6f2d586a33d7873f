package breaker

import (
	"context"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// asked is what a store is asked for: a Take, or else an Adjust.
type asked struct {
	adjusts     bool
	charges     []ratelimit.Charge
	results     []ratelimit.Result
	adjustments []ratelimit.Adjustment
}

func (a *asked) of(ctx context.Context, s ratelimit.Store) error {
	if a.adjusts {
		return s.Adjust(ctx, a.adjustments)
	}
	return s.Take(ctx, a.charges, a.results)
}

// copied is a deep copy of what was asked, in memory that is used again.
type copied struct {
	asked
	keys []byte
}

// from makes c a copy of a.
func (c *copied) from(a *asked) {
	c.adjusts = a.adjusts
	c.charges = append(c.charges[:0], a.charges...)
	c.results = append(c.results[:0], a.results...)
	c.adjustments = append(c.adjustments[:0], a.adjustments...)
	c.keys = c.keys[:0]
	for i := range c.charges {
		c.own(&c.charges[i].Key)
	}
	for i := range c.adjustments {
		c.own(&c.adjustments[i].Key)
	}
}

// own replaces a key by a copy. Those before it stay where they are, also when the
// buffer has to move.
func (c *copied) own(key *[]byte) {
	start := len(c.keys)
	c.keys = append(c.keys, *key...)
	*key = c.keys[start:len(c.keys):len(c.keys)]
}

// answer hands what the store wrote on to a, of which c is a copy.
func (c *copied) answer(a *asked) {
	copy(a.results, c.results)
	for i := range a.adjustments {
		a.adjustments[i].Receipt = c.adjustments[i].Receipt
	}
}
