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
// A Reset is made in both stores before Adjust returns, all of one call together, and
// waits for an exchange under way; what other instances did not send yet is charged after
// it. It takes no longer than Config.Timeout. Where the shared store fails, the error is
// returned, and the keys are reset here alone, until the next exchange. Renew is refused:
// there are no leases.
func (s *Store) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	if len(adjustments) == 0 {
		return nil
	}
	err := s.adjust(ctx, adjustments)
	s.wake()
	return err
}

func (s *Store) adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	var resets []ratelimit.Adjustment
	for i := range adjustments {
		if adjustments[i].Op == ratelimit.Reset {
			resets = append(resets, adjustments[i])
		}
	}
	var unshared error // why the resets are made here alone
	if resets != nil {
		limited, cancel := context.WithTimeout(ctx, s.timeout)
		defer cancel()
		// With the turn, nothing that was charged before is on its way, nor leaves before
		// it is forgotten here.
		if unshared = s.begin(limited); unshared == nil {
			defer s.end()
			unshared = s.shared.Adjust(limited, resets)
		}
	}
	errs := []error{unshared}
	for i := range adjustments {
		one := adjustments[i : i+1]
		var err error
		switch one[0].Op {
		case ratelimit.Reset:
			err = s.reset(ctx, one, unshared == nil)
		case ratelimit.Refund:
			err = s.refund(ctx, one)
		default:
			err = s.extra(ctx, one)
		}
		errs = append(errs, err)
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

// reset forgets a key on the copy, and what is pending of it where the shared store
// forgot the rest.
func (s *Store) reset(ctx context.Context, one []ratelimit.Adjustment, shared bool) error {
	a := &one[0]
	sh := s.shard(a.Key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if err := s.local.Adjust(ctx, one); err != nil {
		return err
	}
	if e := sh.find(a.Space, a.Key); e != nil && shared {
		e.pending, e.seen = pending{}, seen{}
	}
	return nil
}
