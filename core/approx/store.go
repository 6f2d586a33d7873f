// Package approx is a store that decides in this process and shares what it counted
// in the background: for hot limits of many instances, where a round trip a decision
// is too much and a stated overshoot is fine.
//
//	store, err := approx.New(redis, approx.Config{})
//	...
//	defer store.Close()
//	limits := ratelimit.Must(ratelimit.Config{Store: store, Policies: policies})
package approx

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Store is a [ratelimit.Store] that decides on a local copy of a shared store. It
// models tills that are reconciled now and then.
//
// No decision waits for the shared store, and all numbers are the copy's. Every
// Config.Every an exchange sends what each key was charged since the one before, as
// a forced charge, and sets the copy to what the shared store then has in use, with
// what was charged here meanwhile. Keys that nobody asked about are not exchanged.
//
// Overshoot. At worst, where somebody hits all instances at once on a fresh key, and at
// each start of a fixed window, instances × limit is admitted: this is not for limits that
// protect logins or money. In general, let x be the most that one instance admits on a
// key from the sending of an exchange to the answer to the next one, so in Every and an
// exchange's duration. What n instances admitted and is in use never exceeds the capacity
// by more than (n − 1)·x. So a fixed window of N admits up to N + (n − 1)·x; a sliding
// counter's estimate reaches as much; a bucket admits up to B + (n − 1)·x + N·T/W in any
// span T: it pays its overshoot back.
//
// Undershoot. What is sent late counts from then on, so a limit whose capacity is not many
// times what drains in Every admits less than it could.
//
// Outages. While the shared store fails each instance holds the whole limit by itself;
// what was charged is sent later, as far as it still counts here, and what a failed
// exchange carried is not charged twice, but may be missed where others charged as much
// meanwhile. (A call that arrives after the next exchange asked for it charges twice.)
//
// Clocks. A fixed window is that of each instance's clock, and x counts what an
// instance admits in the difference from the shared store's clock as well; a sliding
// counter exceeds by up to n·x more. Buckets do not mind.
//
// Sliding logs, leases and penalties are refused by Open: they promise what a copy
// cannot keep. A Spill works; it is decided on the copies of both keys.
//
// A goroutine runs only while there are keys to exchange; Close ends it, and shares
// what was not shared yet. The zero Store is not usable: make one with [New]. Safe for
// concurrent use. Most callers want [New] and [Store.Close].
type Store struct {
	shared   ratelimit.Store
	local    *ratelimit.Memory
	every    time.Duration
	timeout  time.Duration
	maxKeys  int64
	observer ratelimit.Observer

	evictions *evictions
	seed      maphash.Seed
	shards    [numShards]shard
	tracked   atomic.Int64 // keys in the shards
	unshared  atomic.Int64

	turn chan struct{} // full while an exchange or a Reset is under way
	loop loop

	exchanges atomic.Int64
	failures  atomic.Int64
}

// New returns a store that decides on a copy of shared. It returns all that is
// wrong with the configuration, as *[ratelimit.ConfigError] values joined.
func New(shared ratelimit.Store, config Config) (*Store, error) {
	config, err := config.filled()
	if shared == nil {
		err = errors.Join(&ratelimit.ConfigError{Field: "Store", Reason: "is nil: there is nobody to exchange with"}, err)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{
		shared: shared, every: config.Every, timeout: config.Timeout, maxKeys: int64(config.MaxKeys), observer: config.Observer,
		seed: maphash.MakeSeed(), turn: make(chan struct{}, 1), loop: loop{done: make(chan struct{})},
	}
	memory := ratelimit.MemoryConfig{MaxKeys: config.MaxKeys, Now: config.Now}
	if config.Observer != nil {
		s.evictions = new(evictions)
		memory.Observer = s.evictions
	}
	s.local = ratelimit.NewMemory(memory)
	return s, nil
}

// Open implements [ratelimit.Store]: it opens the space in both stores. It refuses,
// as a *[ratelimit.ConfigError], sliding logs, leases, penalties, and windows
// shorter than Config.Every.
func (s *Store) Open(space *ratelimit.Space) error {
	if s == nil || s.shared == nil {
		return &ratelimit.ConfigError{Field: "Store", Reason: "is no approx.Store: New makes one"}
	}
	if err := space.Validate(); err != nil {
		return err
	}
	refuse := func(field, reason string) error { return &ratelimit.ConfigError{Field: field, Reason: reason} }
	switch {
	case space.Penalty != nil:
		return refuse("Penalty", "needs a store that all instances ask: a ban on a local copy holds for one of them")
	case space.Lease:
		return refuse("Limit", "of leases needs a store that all instances ask: a local copy does not know who holds one")
	case space.Limits[0].Algorithm == ratelimit.SlidingLog:
		return refuse("Limit.Algorithm", "must not be sliding_log: a local copy does not know when the others charged")
	case space.Limits[0].Window < s.every:
		return refuse("Limit.Window", fmt.Sprintf("must be at least %v, the time between two exchanges, is %v", s.every, space.Limits[0].Window))
	}
	if err := s.shared.Open(space); err != nil {
		return err
	}
	return s.local.Open(space) // the last one: it keeps its place in the space, so that decisions find it at once
}

// Take implements [ratelimit.Store]. It asks the local copy alone, and marks all keys,
// those of looks and denials too, for the next exchange.
//
// Where Config.MaxKeys keys wait already, charges on further ones are decided
// all the same and never sent: those keys have a limit of this instance's
// own meanwhile. [Stats] counts them.
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	err := s.take(ctx, charges, results)
	if err == nil && len(charges) > 0 {
		s.wake()
	}
	return err
}

// take decides and notes what was charged under one lock, so that an exchange sees
// both or neither.
func (s *Store) take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	var locked uint64 // a bit a shard; lowest first, so that no two calls wait in a circle
	for i := range charges {
		locked |= 1 << s.number(charges[i].Key)
	}
	for left := locked; left != 0; left &= left - 1 {
		s.shards[bits.TrailingZeros64(left)].mu.Lock()
	}
	defer func() {
		for left := locked; left != 0; left &= left - 1 {
			s.shards[bits.TrailingZeros64(left)].mu.Unlock()
		}
	}()
	if err := s.local.Take(ctx, charges, results); err != nil {
		return err
	}
	for i := range charges {
		c, r := &charges[i], &results[i].Receipt
		s.note(s.shard(c.Key), c.Space, c.Key, &c.Limit, r.Units, r.At)
	}
	return nil
}

// Stats are a Store's totals.
type Stats struct {
	Local     ratelimit.MemoryStats // of the local copy
	Tracked   int64                 // keys that wait for an exchange, or were in the last one
	Exchanges int64                 // made since the start
	Failures  int64                 // of them, those of which a part failed
	Unshared  int64                 // charges since the start that were never sent, for want of room
}

// Stats returns the totals. They are read one after the other, without a lock.
func (s *Store) Stats() Stats {
	return Stats{
		Local: s.local.Stats(), Tracked: s.tracked.Load(),
		Exchanges: s.exchanges.Load(), Failures: s.failures.Load(), Unshared: s.unshared.Load(),
	}
}
