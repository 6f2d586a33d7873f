package redisstore

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// maxEntries bounds the quota of a sliding log, and how many entries of different
// instants one holds.
const maxEntries = 10_000

// spaces are those that were opened. The zero value is none. Methods are safe for
// concurrent use; only open locks.
type spaces struct {
	mu     sync.Mutex
	opened atomic.Pointer[map[string]*ratelimit.Penalty] // by prefix; nil but for penalties
}

// open remembers a space, and the penalty that is in force from now on under its prefix.
func (s *spaces) open(space *ratelimit.Space) error {
	if err := errors.Join(space.Validate(), space.ValidateLogs(maxEntries)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	opened := map[string]*ratelimit.Penalty{}
	if known := s.opened.Load(); known != nil {
		opened = maps.Clone(*known)
	}
	opened[string(space.Prefix)] = resolved(space.Penalty)
	s.opened.Store(&opened)
	return nil
}

// resolved returns a penalty without zero values.
func resolved(penalty *ratelimit.Penalty) *ratelimit.Penalty {
	if penalty == nil {
		return nil
	}
	p := *penalty
	if p.Factor == 0 {
		p.Factor = 1
	}
	if p.Max == 0 {
		p.Max = ratelimit.MaxWindow
		if p.Factor == 1 {
			p.Max = p.Ban
		}
	}
	return &p
}

// find returns the penalty in force in a space, and whether it was opened.
func (s *spaces) find(space *ratelimit.Space) (*ratelimit.Penalty, bool) {
	known := s.opened.Load()
	if known == nil {
		return nil, false
	}
	penalty, ok := (*known)[string(space.Prefix)]
	return penalty, ok && (penalty != nil) == (space.Penalty != nil)
}

// check returns why a Take makes no sense, or nil.
func (s *spaces) check(charges []ratelimit.Charge, results []ratelimit.Result) error {
	for i := range charges {
		if err := s.wasOpened(charges[i].Space); err != nil {
			return err
		}
	}
	return ratelimit.CheckTake(charges, results)
}

// checkAdjustment returns why an adjustment makes no sense, or nil.
func (s *spaces) checkAdjustment(a *ratelimit.Adjustment) error {
	if err := s.wasOpened(a.Space); err != nil {
		return err
	}
	return ratelimit.CheckAdjustment(a)
}

func (s *spaces) wasOpened(space *ratelimit.Space) error {
	if _, ok := s.find(space); !ok {
		return fmt.Errorf("%w: the space was never opened: policy %q", ratelimit.ErrMisuse, space.Policy)
	}
	return nil
}
