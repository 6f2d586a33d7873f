// Package denycache is a store that remembers denials of another one: a key at its
// limit costs no round trip until it could be admitted.
//
// Put it around a store that is far away. Who goes on asking the same while denied, as
// clients without patience and attackers do, then reaches that store about once a
// MaxAge. Of a key one cost is remembered, the one that was denied last.
//
//	store, err := denycache.New(redis, denycache.Config{})
//	limits := ratelimit.Must(ratelimit.Config{Store: store, Policies: policies})
package denycache

import (
	"context"
	"errors"
	"math/bits"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Store is a [ratelimit.Store] that denies by itself what is sure to be denied, and
// hands everything else to the one that it was made with. It models the memory of a
// doorman.
//
// It denies nothing that the other store might admit, except that what happens past
// it (a refund or a Reset by another instance, an eviction) is seen after MaxAge.
// Waiting its RetryAfter is always enough. Where both stores share a clock that is the
// shortest wait to the microsecond; otherwise it is longer by the duration of the call
// that was denied, at most, and 2 µs. See [Store.Take].
//
// It never holds more than MaxKeys denials, starts no goroutine, and holds no pointers
// for the collector to follow. To deny allocates nothing. The zero Store is not
// usable: make one with [New]. Safe for concurrent use.
type Store struct {
	store  ratelimit.Store
	maxAge int64 // µs
	clock  clock
	seeds  seeds
	shards []shard
}

const maxShards = 64

// New returns a cache around a store. It returns all that is wrong with the
// configuration, as *[ratelimit.ConfigError] values joined.
func New(store ratelimit.Store, config Config) (*Store, error) {
	config, err := config.filled()
	if store == nil {
		err = errors.Join(&ratelimit.ConfigError{Field: "Store", Reason: "is nil: a cache needs one to ask"}, err)
	}
	if err != nil {
		return nil, err
	}
	n := min(maxShards, 1<<bits.Len(uint(config.MaxKeys/1024)))
	s := &Store{
		store: store, maxAge: config.MaxAge.Microseconds(),
		clock: newClock(config.Now), seeds: newSeeds(), shards: make([]shard, n),
	}
	for i := range s.shards {
		s.shards[i].most = config.MaxKeys / n
	}
	return s, nil
}

// Open implements [ratelimit.Store]. A space of a penalty makes the cache forget all
// bans, since another penalty may tell them otherwise.
func (s *Store) Open(space *ratelimit.Space) error {
	if s == nil || s.store == nil {
		return &ratelimit.ConfigError{Field: "Store", Reason: "is no denycache.Store: New makes one"}
	}
	err := s.store.Open(space)
	if space.Penalty != nil {
		for i := range s.shards {
			sh := &s.shards[i]
			sh.mu.Lock()
			sh.forgetBans()
			sh.mu.Unlock()
		}
	}
	return err
}

// Adjust implements [ratelimit.Store]. It ends what was remembered of the keys.
func (s *Store) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	defer func() { // after the store, whatever became of it
		for i := range adjustments {
			if a := &adjustments[i]; !a.Space.Lease {
				s.forget(s.seeds.of(a.Space.Prefix, a.Key))
			}
		}
	}()
	return s.store.Adjust(ctx, adjustments)
}

// Stats are a Store's totals.
type Stats struct {
	Keys      int64 // denials remembered now, those that are over and not swept yet among them
	Hits      int64 // Takes that were denied without asking the store, since the start
	Evictions int64 // denials in force that a new one displaced, since the start
}

// Stats returns the totals. They are read shard by shard.
func (s *Store) Stats() Stats {
	var sum Stats
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		sum.Keys += int64(len(sh.denials))
		sum.Evictions += sh.evictions
		sh.mu.Unlock()
		sum.Hits += sh.hits.Load()
	}
	return sum
}

func (s *Store) shard(key fingerprint) *shard { return &s.shards[key[0]&uint64(len(s.shards)-1)] }

func (s *Store) forget(key fingerprint) {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.forget(key)
}
