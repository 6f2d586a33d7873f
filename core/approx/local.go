package approx

import (
	"context"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// look asks the copy what a key has in use.
func (s *Store) look(space *ratelimit.Space, key []byte, limit *ratelimit.Limit) (ratelimit.Result, error) {
	charge := []ratelimit.Charge{{Space: space, Key: key, Limit: *limit}}
	result := make([]ratelimit.Result, 1)
	err := s.local.Take(context.Background(), charge, result)
	return result[0], err
}

// follow sets the copy of a key to what the shared store has in use, with what was
// charged here since it was asked. An answer about another fixed window than the copy's,
// as the clocks have it, is no news of this one; a sliding counter's estimate does not
// jump where a window begins. The shard is locked.
func (s *Store) follow(e *entry, answer *ratelimit.Result) error {
	look, err := s.look(e.space, e.key, &e.limit)
	if err != nil {
		return err
	}
	if e.limit.Algorithm == ratelimit.FixedWindow && window(&e.limit, look.Receipt.At) != window(&e.limit, answer.Receipt.At) {
		return nil
	}
	want := max(0, answer.Used+e.units)
	switch over := look.Used - want; {
	case over < 0:
		return s.set(e, ratelimit.Extra, -over, ratelimit.Receipt{})
	case over == 0:
		return nil
	default:
		receipt := ratelimit.Receipt{At: look.Receipt.At, Units: over, End: queueEnd(&look)}
		if err = s.set(e, ratelimit.Refund, over, receipt); err != nil {
			return err
		}
	}
	if look, err = s.look(e.space, e.key, &e.limit); err != nil || look.Used <= want {
		return err
	}
	// A sliding counter gives back only what is in this window.
	if err = s.set(e, ratelimit.Reset, 0, ratelimit.Receipt{}); err != nil {
		return err
	}
	return s.set(e, ratelimit.Extra, want, ratelimit.Receipt{})
}

// set adjusts the copy of a key.
func (s *Store) set(e *entry, op ratelimit.Op, units int64, receipt ratelimit.Receipt) error {
	return s.local.Adjust(context.Background(), []ratelimit.Adjustment{{
		Op: op, Space: e.space, Key: e.key, Limit: e.limit, Units: units, Receipt: receipt,
	}})
}

// queueEnd returns where a queue ends: a leaky bucket gives back only to who knows.
func queueEnd(look *ratelimit.Result) int64 {
	const last = 1<<53 - 1
	return min(look.Now+look.ResetAfter.Microseconds(), last)
}
