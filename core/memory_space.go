package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

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
	public  Algorithm
	kind    algorithm.Kind
	log     bool // the state is a log: sliding log, lease, strikes
	strikes bool
	length  time.Duration
	window  int64 // the same, µs
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

var (
	errNotOpened = errors.New("the space was never opened")
	errStrike    = errors.New("a Strike, and nothing else, goes to a penalty space")
	errCharge    = errors.New("a charge needs a valid limit of its space's algorithm and window, and a cost of at least 0")
)

// newMemorySpace returns the space that s asks for, or why it cannot be held.
func newMemorySpace(s *Space) (*memorySpace, error) {
	var bad problems
	sp := &memorySpace{policy: s.Policy, prefix: string(s.Prefix), stride: 4}
	switch {
	case s.Penalty != nil:
		bad.under("", s.Penalty.Validate())
		sp.log, sp.strikes, sp.stride, sp.length = true, true, 6, s.Penalty.Within
	case len(s.Limits) == 0:
		bad.add("Limits", "of a space are missing")
	default:
		first := s.Limits[0]
		for i, l := range s.Limits {
			field := "Limit."
			if i > 0 {
				field = fmt.Sprintf("Limits[%d].", i)
			}
			bad.under(field, l.Validate())
			if l.Algorithm == SlidingLog && l.Quota > algorithm.MaxEntries {
				bad.add(field+"Quota", "of a sliding log in memory is at most %d, is %d", algorithm.MaxEntries, l.Quota)
			}
			if l.Algorithm != first.Algorithm || l.Window != first.Window {
				bad.add("Limits", "of one space must share algorithm and window")
			}
		}
		if s.Lease && first.Algorithm != SlidingLog {
			bad.add("Limit.Algorithm", "of a lease must be %v, is %v", SlidingLog, first.Algorithm)
		}
		sp.public, sp.kind, sp.length = first.Algorithm, algorithm.Kind(first.Algorithm), first.Window
		sp.log = first.Algorithm == SlidingLog
		if sp.log || first.Algorithm == GCRA {
			sp.stride = 5
		}
	}
	sp.window = sp.length.Microseconds()
	return sp, bad.join()
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

// check refuses what the arithmetic is not made for, before any lock is taken.
func (sp *memorySpace) check(l *Limit, units int64) error {
	ok := units >= 0
	if known := *sp.limits.Load(); !sp.strikes && (len(known) == 0 || known[0] != *l) {
		ok = ok && l.Algorithm == sp.public && l.Window == sp.length && l.Validate() == nil
	}
	if !ok {
		return errCharge
	}
	return nil
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
