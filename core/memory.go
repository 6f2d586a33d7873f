package ratelimit

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// DefaultMaxKeys is how many keys a memory store holds for each policy unless
// told otherwise.
const DefaultMaxKeys = 1 << 20

// MemoryConfig is the configuration of a Memory. Its zero value is the usual one.
type MemoryConfig struct {
	// MaxKeys bounds the keys held for each policy, so that a flood on one policy
	// evicts nobody from another; 0 means DefaultMaxKeys. See [Memory].
	MaxKeys int

	// Now is the clock; nil means the machine's. It is called once a decision.
	Now func() time.Time

	// Observer is told of evictions; nil: nobody.
	Observer Observer
}

// Memory is a Store in this process's memory, the default one. It models one
// instance that needs no other to agree with.
//
// It decides without allocating, starts no goroutine, and holds no pointers for
// the collector to follow: a key is a 128-bit seeded fingerprint beside 16 to 40
// bytes of state (a log adds 16 a charge). What is idle is forgotten bit by bit
// by whatever calls come. At MaxKeys a new key displaces, of a sample, an idle key
// or else the one with the most quota left, so a flood of new keys lifts nobody's
// denial while a key with quota left is in sight. Evictions are counted.
//
// Safe for concurrent use. Make one with [NewMemory] and hand it to [Config.Store].
type Memory struct {
	maxKeys  int
	observer Observer
	clock    clock
	seedA    maphash.Seed
	seedB    maphash.Seed

	mu     sync.Mutex // guards changes of spaces
	spaces atomic.Pointer[[]*memorySpace]

	_     [64]byte // the sweep's state is written often; what is above is only read
	sweep sweeper
}

// NewMemory returns an empty store. A negative MaxKeys is refused at New, by Open.
func NewMemory(config MemoryConfig) *Memory {
	m := &Memory{
		maxKeys: config.MaxKeys, observer: config.Observer,
		clock: clock{now: config.Now, base: time.Now()},
		seedA: maphash.MakeSeed(), seedB: maphash.MakeSeed(),
	}
	if m.maxKeys == 0 {
		m.maxKeys = DefaultMaxKeys
	}
	m.spaces.Store(new([]*memorySpace))
	return m
}

// MemoryStats are a Memory's totals over all policies.
type MemoryStats struct {
	Keys      int64 // held now
	Evictions int64 // keys that a new one displaced, since the start
}

// Stats returns the totals. They are read one after the other, without a lock.
func (m *Memory) Stats() MemoryStats {
	var s MemoryStats
	for _, sp := range *m.spaces.Load() {
		s.Keys += sp.keys.Load()
		s.Evictions += sp.evictions.Load()
	}
	return s
}

// memorySpace holds the keys of one Space, in shards with a lock each.
type memorySpace struct {
	owner   *Memory
	prefix  string
	id      uint64 // orders locks
	kind    algorithm.Kind
	log     bool // the state is a log: sliding log, lease, strikes
	penalty *algorithm.Penalty
	window  int64 // µs
	stride  int   // words a slot
	maxKeys int64
	shards  []memoryShard

	limits  atomic.Pointer[[]Limit] // known; a slot names the one it was written under by index
	slowest atomic.Int64            // the lowest quota seen: what is idle under it is idle under all

	_         [64]byte
	keys      atomic.Int64
	evictions atomic.Int64
}

const maxShards = 256

// Open implements [Store].
func (m *Memory) Open(space *Space) error {
	var bad problems
	if m.maxKeys < 0 {
		bad.add("MemoryConfig.MaxKeys", "must not be negative, is %d", m.maxKeys)
	}
	sp := &memorySpace{owner: m, prefix: string(space.Prefix), maxKeys: int64(m.maxKeys), stride: 4}
	if p := space.Penalty; p != nil {
		bad.under("", p.Validate())
		sp.log, sp.stride, sp.penalty = true, 6, p.micros()
		sp.window = sp.penalty.Within
	} else {
		for _, l := range space.Limits {
			bad.under("Limit.", l.Validate())
			if l.Algorithm == SlidingLog && l.Quota > algorithm.MaxEntries {
				bad.add("Limit.Quota", "of a sliding log in memory is at most %d, is %d", algorithm.MaxEntries, l.Quota)
			}
			if l.Algorithm != space.Limits[0].Algorithm || l.Window != space.Limits[0].Window {
				bad.add("Limits", "of one space must share algorithm and window")
			}
		}
		first := space.Limits[0]
		if space.Lease && first.Algorithm != SlidingLog {
			bad.add("Limit.Algorithm", "of a lease must be %v, is %v", SlidingLog, first.Algorithm)
		}
		sp.kind, sp.window = algorithm.Kind(first.Algorithm), first.Window.Microseconds()
		sp.log = first.Algorithm == SlidingLog
		if sp.log || first.Algorithm == GCRA {
			sp.stride = 5
		}
	}
	if bad != nil {
		return bad.join()
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	known := *m.spaces.Load()
	for _, other := range known {
		if other.prefix == sp.prefix {
			other.learn(space.Limits)
			space.memory.Store(other)
			return nil
		}
	}
	shards := min(maxShards, max(1, 1<<bits.Len(uint(m.maxKeys/2048))))
	sp.id, sp.shards = uint64(len(known))<<32, make([]memoryShard, shards)
	for i := range sp.shards {
		sp.shards[i].number = i * maxShards / shards
	}
	sp.limits.Store(new([]Limit))
	sp.slowest.Store(MaxQuota)
	sp.learn(space.Limits)
	spaces := append(known[:len(known):len(known)], sp)
	m.spaces.Store(&spaces)
	space.memory.Store(sp)
	return nil
}

// learn adds limits to the known ones. Their indices do not change.
func (sp *memorySpace) learn(limits []Limit) {
	known := *sp.limits.Load()
	for _, l := range limits {
		if sp.class(known, l) == otherLimit && len(known) < otherLimit {
			known = append(known[:len(known):len(known)], l)
		}
		sp.slow(l.Quota)
	}
	sp.limits.Store(&known)
}

// otherLimit is the index of every limit that is not a known one.
const otherLimit = 63

func (sp *memorySpace) class(known []Limit, l Limit) int {
	for i := range known {
		if known[i] == l {
			return i
		}
	}
	return otherLimit
}

func (sp *memorySpace) slow(quota int64) {
	for {
		low := sp.slowest.Load()
		if quota >= low || sp.slowest.CompareAndSwap(low, quota) {
			return
		}
	}
}

// space returns where a Space is held here, or nil where it was never opened.
func (m *Memory) space(s *Space) *memorySpace {
	if sp := s.memory.Load(); sp != nil && sp.owner == m {
		return sp
	}
	for _, sp := range *m.spaces.Load() {
		if sp.prefix == string(s.Prefix) {
			return sp
		}
	}
	return nil
}

// evicted counts and reports what new keys displaced, outside of all locks.
func (sp *memorySpace) evicted(ctx context.Context, s *Space, n int) {
	if n == 0 {
		return
	}
	sp.evictions.Add(int64(n))
	if o := sp.owner.observer; o != nil {
		o.Reported(ctx, Report{Kind: ReportEvicted, Policy: s.Policy, N: int64(n)})
	}
}
