package approx

import (
	"context"
	"errors"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Adjust implements [ratelimit.Store]. Receipts are the local copy's.
//
// What a Refund gives back is taken from what was not sent yet; the rest is refunded
// in the shared store by the next exchange. There it is found by the
// local instant of the charge, so it is lost where the clocks do not agree on the
// window; and a queue's is lost where another instance joins that queue at the same
// moment. What a sliding counter charged in its last window is given back at the weight
// that it still has. An Extra is sent like a charge.
//
// A Reset is made in both stores before Adjust returns, and waits for an exchange under
// way; what other instances did not send yet is charged after it. Where the shared
// store fails, the error is returned, and the key is reset here alone, until the next
// exchange. Renew is refused: there are no leases.
func (s *Store) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	var errs []error
	for i := range adjustments {
		a := adjustments[i : i+1]
		var err error
		switch a[0].Op {
		case ratelimit.Reset:
			err = s.reset(ctx, a)
		case ratelimit.Refund:
			err = s.refund(ctx, a)
		default:
			err = s.extra(ctx, a)
		}
		errs = append(errs, err)
	}
	if len(adjustments) > 0 {
		s.wake()
	}
	return errors.Join(errs...)
}

// refund gives back on the copy, and notes what that came to.
func (s *Store) refund(ctx context.Context, one []ratelimit.Adjustment) error {
	a := &one[0]
	at := a.Receipt.At
	sh := s.shard(a.Key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	before, err := s.look(a.Space, a.Key, &a.Limit)
	if err != nil {
		return err
	}
	if err = s.local.Adjust(ctx, one); err != nil {
		return err
	}
	after, err := s.look(a.Space, a.Key, &a.Limit)
	if err != nil {
		return err
	}
	given := min(max(0, before.Used-after.Used), a.Units) // it may have drained meanwhile
	if e := s.note(sh, a.Space, a.Key, &a.Limit, -given, after.Receipt.At); e != nil && given > 0 {
		e.back = max(e.back, at)
	}
	return nil
}

// extra charges the copy.
func (s *Store) extra(ctx context.Context, one []ratelimit.Adjustment) error {
	a := &one[0]
	sh := s.shard(a.Key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if err := s.local.Adjust(ctx, one); err != nil {
		return err
	}
	s.note(sh, a.Space, a.Key, &a.Limit, a.Receipt.Units, a.Receipt.At)
	return nil
}

// reset forgets a key in both stores. It has the turn, so that nothing which was
// charged before is on its way to the shared store.
func (s *Store) reset(ctx context.Context, one []ratelimit.Adjustment) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.end()
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := s.shared.Adjust(limited, one)

	a := &one[0]
	sh := s.shard(a.Key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if err := s.local.Adjust(ctx, one); err != nil {
		return err
	}
	if e := sh.find(a.Space, a.Key); e != nil {
		e.pending = pending{}
	}
	return err
}
