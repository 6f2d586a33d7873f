package ratelimit

import (
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultMaxKeys is how many keys a memory store holds for each policy unless
// told otherwise.
const DefaultMaxKeys = 1 << 20

// MemoryConfig is the configuration of a Memory. Its zero value is the usual one.
type MemoryConfig struct {
	// MaxKeys bounds the keys held for each policy (of one algorithm and window), so
	// that a flood on one evicts nobody from another; 0 means DefaultMaxKeys. See
	// [Memory].
	MaxKeys int

	// Now is the clock; nil means the machine's. It is called once a decision.
	Now func() time.Time

	// Observer is told of evictions, at most once a second; nil: nobody.
	Observer Observer
}

// Memory is a Store in this process's memory, the default one. It models one
// instance that needs no other to agree with.
//
// It decides without allocating, starts no goroutine, and holds no pointers for
// the collector to follow: a key is a 128-bit seeded fingerprint beside 16 to 40
// bytes of state. A sliding log adds 16 bytes a charge; it decides by binary
// search, but a refund of an old charge moves what is newer. What is idle is
// forgotten bit by bit by whatever calls come. At MaxKeys a new key displaces, of
// a sample, an idle key or else the one with the most quota left, so a flood of new
// keys lifts nobody's denial while a key with quota left is in sight. Evictions are
// counted.
//
// The zero Memory is that of a zero MemoryConfig. Safe for concurrent use. Make one
// with [NewMemory] and hand it to [Config.Store].
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
	return &Memory{maxKeys: config.MaxKeys, observer: config.Observer, clock: clock{now: config.Now}}
}

// MemoryStats are a Memory's totals over all policies.
type MemoryStats struct {
	Keys      int64 // held now
	Evictions int64 // keys that a new one displaced, since the start
}

// Stats returns the totals. They are read one after the other, without a lock.
func (m *Memory) Stats() MemoryStats {
	var s MemoryStats
	for _, sp := range m.opened() {
		s.Keys += sp.keys.Load()
		s.Evictions += sp.evictions.Load()
	}
	return s
}

// opened returns the spaces, none before the first Open.
func (m *Memory) opened() []*memorySpace {
	if spaces := m.spaces.Load(); spaces != nil {
		return *spaces
	}
	return nil
}

// Open implements [Store].
func (m *Memory) Open(space *Space) error {
	if err := m.validate(); err != nil {
		return err
	}
	sp, err := newMemorySpace(space)
	if err != nil {
		return err
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.opened()
	for _, other := range known {
		if other.prefix == sp.prefix {
			other.learn(space)
			space.memory.Store(other)
			return nil
		}
	}
	if known == nil {
		m.clock.base = time.Now()
		m.seedA, m.seedB = maphash.MakeSeed(), maphash.MakeSeed()
	}
	maxKeys := m.maxKeys
	if maxKeys == 0 {
		maxKeys = DefaultMaxKeys
	}
	sp.own(m, len(known), maxKeys)
	sp.learn(space)
	spaces := append(known[:len(known):len(known)], sp)
	m.spaces.Store(&spaces)
	space.memory.Store(sp)
	return nil
}

func (m *Memory) validate() error {
	switch {
	case m == nil:
		return &ConfigError{Field: "Memory", Reason: "is nil: NewMemory makes one"}
	case m.maxKeys < 0:
		return &ConfigError{Field: "MemoryConfig.MaxKeys", Reason: fmt.Sprintf("must not be negative, is %d", m.maxKeys)}
	}
	return nil
}

// space returns where a Space is held here.
func (m *Memory) space(s *Space) (*memorySpace, error) {
	if sp := s.memory.Load(); sp != nil && sp.owner == m {
		return sp, nil
	}
	for _, sp := range m.opened() {
		if sp.prefix == string(s.Prefix) {
			return sp, nil
		}
	}
	return nil, errNotOpened
}
