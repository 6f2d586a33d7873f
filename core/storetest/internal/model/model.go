// Package model is a store that is exact and obvious rather than fast: it counts
// in integers of any size over one denominator, and asks for every wait as the
// shortest after which a level is reached. Other stores are compared with it.
package model

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	maxTime  = 1<<53 - 1     // the last instant, µs since 1970
	maxWait  = 1 << 53       // longer waits are told as this, in µs
	maxLevel = 1<<32 - 1     // units, debt included
	minBack  = 60_000_000    // µs that a clock may step back whatever the window
	never    = math.MaxInt64 // a wait that has no end
	beyond   = 1 << 62       // a wait that has an end, but none that is told exactly
)

// tally is what a store remembers of one key under one algorithm. Instants are µs
// since 1970, and an instant given to a method is never before last.
type tally interface {
	// last returns the instant of the last write.
	last() int64
	clone() tally
	// used returns the units in use.
	used(l ratelimit.Limit, at int64) int64
	// wait returns the shortest wait, in µs, after which at most target units and
	// what drains in slack µs are in use; never where no wait suffices.
	wait(l ratelimit.Limit, at, target, slack int64) int64
	// room returns the most units that a forced charge may add.
	room(l ratelimit.Limit, at int64) int64
	// roomWait returns the shortest wait until room is at least units.
	roomWait(l ratelimit.Limit, at, units int64) int64
	// put adds units, of which there is at least one.
	put(l ratelimit.Limit, at, units int64)
	// refund takes units of the receipt's charge back, as far as the algorithm
	// allows, and reports whether anything is left to remember.
	refund(l ratelimit.Limit, at, units int64, r *ratelimit.Receipt) bool
}

// Store is the exact store. Make one with [New].
type Store struct {
	now        func() time.Time
	logEntries int64

	mu      sync.Mutex
	opened  map[string]bool // prefixes
	tallies map[name]tally
	strikes map[name]*record
}

// name identifies a key within the store.
type name struct{ prefix, key string }

// New returns an empty store with a clock, whose logs hold at most logEntries
// charges made at different instants.
func New(now func() time.Time, logEntries int64) *Store {
	return &Store{now: now, logEntries: logEntries, opened: map[string]bool{}, tallies: map[name]tally{}, strikes: map[name]*record{}}
}

// Open refuses what is invalid, and logs above the store's bound.
func (s *Store) Open(space *ratelimit.Space) error {
	if err := s.holds(space); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened[string(space.Prefix)] = true
	return nil
}

func (s *Store) holds(space *ratelimit.Space) error {
	if space.Penalty != nil {
		return space.Penalty.Validate()
	}
	if len(space.Limits) == 0 {
		return errors.New("model: a space without a limit or penalty")
	}
	var errs []error
	for _, l := range space.Limits {
		errs = append(errs, l.Validate())
		if l.Algorithm == ratelimit.SlidingLog && l.Quota > s.logEntries {
			errs = append(errs, errors.New("model: the quota of a log is above its bound"))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) instant() int64 { return min(max(s.now().UnixMicro(), 0), maxTime) }

func nameOf(space *ratelimit.Space, key []byte) name { return name{string(space.Prefix), string(key)} }

// stored returns what is remembered of a key for an instant, or nil.
func (s *Store) stored(n name, l ratelimit.Limit, now int64) tally {
	t := s.tallies[n]
	if t == nil || t.last()-now > max(micros(l.Window), minBack) {
		return nil
	}
	return t
}

// fresh returns the tally of a key of which nothing is known.
func (s *Store) fresh(l ratelimit.Limit) tally {
	switch l.Algorithm {
	case ratelimit.TokenBucket:
		return &bucket{level: new(big.Int)}
	case ratelimit.LeakyBucket:
		return &bucket{level: new(big.Int), queue: true}
	case ratelimit.GCRA:
		return &gcra{level: new(big.Int), interval: interval(l)}
	case ratelimit.FixedWindow:
		return &fixed{}
	case ratelimit.SlidingCounter:
		return &counter{}
	default:
		return &logged{most: s.logEntries}
	}
}

// Vague reports whether it is up to a store what it remembers of a key at an
// instant. It may have forgotten one of which nothing was in use, for longer than a
// clock may step back, at a later instant, the latest it saw; or that a refund left
// with nothing in use.
func (s *Store) Vague(space *ratelimit.Space, key []byte, now, latest int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := nameOf(space, key)
	if r := s.strikes[n]; r != nil {
		return vague(now, latest, r.last, r.forgotten(space.Penalty, r.last), micros(space.Penalty.Within))
	}
	t := s.tallies[n]
	if t == nil {
		return false
	}
	last := t.last()
	if log, ok := t.(*logged); ok && max(now, last) < log.vague {
		return true
	}
	end := last
	for _, l := range space.Limits {
		end = max(end, last+t.wait(l, last, 0, 0))
	}
	return vague(now, latest, last, end, micros(space.Limits[0].Window))
}

// vague is Vague of a state written at last of which nothing is in use from end on.
func vague(now, latest, last, end, window int64) bool {
	back := max(window, minBack)
	switch {
	case now >= end || last-now > back:
		return false // there is nothing either way
	case end == last:
		return true
	default:
		return end <= latest && latest-last > back
	}
}

// Ahead reports whether a key was written so far after an instant that it counts as
// if it never was: it will again, later, so that how long to wait for room is no
// plain question.
func (s *Store) Ahead(space *ratelimit.Space, key []byte, l ratelimit.Limit, now int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := nameOf(space, key)
	return s.tallies[n] != nil && s.stored(n, l, now) == nil
}

// sound returns why the store cannot do what it is asked, of units under a limit, or nil.
func (s *Store) sound(space *ratelimit.Space, l ratelimit.Limit, units int64) error {
	var err error
	switch {
	case !s.opened[string(space.Prefix)]:
		err = errors.New("the space was never opened")
	case space.Penalty != nil:
	case units < 0:
		err = errors.New("negative units")
	case l.Algorithm != space.Limits[0].Algorithm || l.Window != space.Limits[0].Window:
		err = errors.New("the limit is of another algorithm or window than its space")
	default:
		err = l.Validate()
	}
	if err != nil {
		return fmt.Errorf("model: %w: %w", ratelimit.ErrMisuse, err)
	}
	return nil
}

func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }

// told returns a wait from at as the caller at now hears it.
func told(wait, at, now int64) time.Duration {
	switch wait {
	case 0:
		return 0
	case never:
		return ratelimit.Never
	default:
		return time.Duration(min(wait+(at-now), maxWait)) * time.Microsecond
	}
}
