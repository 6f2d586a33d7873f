package redisstore

import (
	"context"
	"errors"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// corrections is the adjustments that are made in one call, in their order.
type corrections struct {
	at          []int // where they stand in the Adjust
	adjustments []ratelimit.Adjustment
}

// adjustSplit makes adjustments in several calls at once. They do not depend on each
// other, so the error is all that went wrong, joined.
func (s *Store) adjustSplit(ctx context.Context, deadline time.Time, by grouping, adjustments []ratelimit.Adjustment) error {
	at := make([]int, len(adjustments))
	for i := range at {
		at[i] = i
	}
	all := corrections{at, adjustments}
	var bad []error
	for parts := all.split(by); len(parts) > 0; {
		t := newTrip(ctx, deadline, len(parts))
		for i, p := range parts {
			s.encoder.adjust(&t.calls[i], p.adjustments)
		}
		s.dispatcher.do(t)
		var next []corrections
		for i, p := range parts {
			c := &t.calls[i]
			err := c.failure()
			switch {
			case err == nil:
				if err = decodeAdjust(c.reply, p.adjustments); err == nil {
					for j, k := range p.at {
						adjustments[k].Receipt = p.adjustments[j].Receipt
					}
				}
			case s.learnGrouping(c, err) != nil:
				next, err = append(next, p.split(byKey)...), nil
			default:
				err = failed(err)
			}
			if err != nil {
				bad = append(bad, err)
			}
		}
		parts = next
	}
	return errors.Join(bad...)
}

// split returns the corrections apart.
func (c corrections) split(by grouping) []corrections {
	groups := group(len(c.at), func(i int) string { return by(c.adjustments[i].Space, c.adjustments[i].Key) })
	parts := make([]corrections, len(groups))
	for i, g := range groups {
		parts[i] = corrections{pick(c.at, g), pick(c.adjustments, g)}
	}
	return parts
}
