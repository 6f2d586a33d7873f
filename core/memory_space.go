package ratelimit

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// The two enumerations are one.
var _ = [1]struct{}{}[uint8(algorithm.KindSlidingCounter)-uint8(SlidingCounter)|uint8(algorithm.KindGCRA)-uint8(GCRA)]

// memorySpace holds the keys of one Space, in shards with a lock each.
type memorySpace struct {
	owner   *Memory
	policy  string
	prefix  string
	id      uint64 // orders locks
	kind    algorithm.Kind
	log     bool // the state is a log: sliding log, lease, strikes
	strikes bool
	window  int64 // µs
	stride  int   // words a slot
	maxKeys int64
	shards  []memoryShard

	limits  atomic.Pointer[[]Limit] // known; a slot names the one it was written under by index
	penalty atomic.Pointer[algorithm.Penalty]
	slowest atomic.Int64 // the lowest quota seen: what is idle under it is idle under all

	_          [64]byte
	keys       atomic.Int64
	evictions  atomic.Int64
	unreported atomic.Int64 // evictions
	reportDue  atomic.Int64 // µs
}

const maxShards = 256

// newMemorySpace returns the space that s asks for, or why it cannot be held.
func newMemorySpace(s *Space) (*memorySpace, error) {
	if err := errors.Join(s.Validate(), s.ValidateLogs(algorithm.MaxEntries)); err != nil {
		return nil, err
	}
	sp := &memorySpace{policy: s.Policy, prefix: string(s.Prefix), stride: 4}
	if s.Penalty != nil {
		sp.log, sp.strikes, sp.stride = true, true, 6
		sp.window = s.Penalty.Within.Microseconds()
		return sp, nil
	}
	first := s.Limits[0]
	sp.kind, sp.window = algorithm.Kind(first.Algorithm), first.Window.Microseconds()
	sp.log = first.Algorithm == SlidingLog
	if sp.log || first.Algorithm == GCRA {
		sp.stride = 5
	}
	return sp, nil
}

// own makes the space the n-th of a store's.
func (sp *memorySpace) own(m *Memory, n, maxKeys int) {
	shards := min(maxShards, 1<<bits.Len(uint(maxKeys/2048)))
	sp.owner, sp.id, sp.maxKeys = m, uint64(n)<<32, int64(maxKeys)
	sp.shards = make([]memoryShard, shards)
	for i := range sp.shards {
		sp.shards[i].number = i * maxShards / shards
	}
	sp.limits.Store(new([]Limit))
	sp.slowest.Store(MaxQuota)
}

// learn takes up what a Space says of the limits in force. The indices of those that
// are known do not change.
func (sp *memorySpace) learn(s *Space) {
	if s.Penalty != nil {
		sp.penalty.Store(s.Penalty.micros())
	}
	known := *sp.limits.Load()
	for _, l := range s.Limits {
		if sp.class(known, l) == otherLimit && len(known) < otherLimit {
			known = append(known[:len(known):len(known)], l)
		}
		sp.slow(l.Quota)
	}
	sp.limits.Store(&known)
}

// otherLimit and what is above it stand for limits that are not known: the rest is
// the share that was used at the last write, in steps of otherSteps.
const (
	otherLimit = 32
	otherSteps = 31
)

func (sp *memorySpace) class(known []Limit, l Limit) int {
	for i := range known {
		if known[i] == l {
			return i
		}
	}
	return otherLimit
}

// classOf returns what to remember with a slot of the limit that it is written
// under, so that a victim can be chosen by the share of its quota that is left.
func (sp *memorySpace) classOf(l *Limit, used int64) int {
	known := *sp.limits.Load()
	if len(known) > 0 && known[0] == *l {
		return 0
	}
	class := sp.class(known, *l)
	if class == otherLimit {
		sp.slow(l.Quota)
		capacity := l.Capacity()
		class += int((min(used, capacity)*otherSteps + capacity - 1) / capacity)
	}
	return class
}

func (sp *memorySpace) slow(quota int64) {
	for {
		low := sp.slowest.Load()
		if quota >= low || sp.slowest.CompareAndSwap(low, quota) {
			return
		}
	}
}

const reportEvery = 1_000_000 // µs

// evicted counts what new keys displaced, and reports it at most once a second,
// outside of all locks: a flood must not become a flood of reports.
func (sp *memorySpace) evicted(ctx context.Context, n int, now int64) {
	if n == 0 {
		return
	}
	sp.evictions.Add(int64(n))
	o := sp.owner.observer
	if o == nil {
		return
	}
	sp.unreported.Add(int64(n))
	due := sp.reportDue.Load()
	if now < due && due-now <= reportEvery || !sp.reportDue.CompareAndSwap(due, now+reportEvery) {
		return
	}
	if n := sp.unreported.Swap(0); n > 0 {
		o.Reported(ctx, Report{Kind: ReportEvicted, Policy: sp.policy, N: n})
	}
}
