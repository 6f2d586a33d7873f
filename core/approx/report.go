package approx

import (
	"context"
	"sync"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// evictions holds back what the local copy reports while a shard is locked: an
// observer that asks the store something would wait for itself.
type evictions struct {
	mu   sync.Mutex
	keys map[string]int64 // by policy
}

// Decided implements [ratelimit.Observer]; a memory store decides for nobody.
func (e *evictions) Decided(context.Context, []byte, ratelimit.Decision) {}

// Reported implements [ratelimit.Observer].
func (e *evictions) Reported(_ context.Context, r ratelimit.Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.keys == nil {
		e.keys = map[string]int64{}
	}
	e.keys[r.Policy] += r.N
}

func (e *evictions) take() map[string]int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	keys := e.keys
	e.keys = nil
	return keys
}

// report tells the observer what failed, and what the copy evicted. No lock is held.
func (s *Store) report(failed failure) {
	if s.observer == nil {
		return
	}
	ctx := context.Background()
	if failed.take != nil {
		s.observer.Reported(ctx, ratelimit.Report{Kind: ratelimit.ReportStoreError, Err: failed.take})
	}
	if failed.adjust != nil {
		s.observer.Reported(ctx, ratelimit.Report{Kind: ratelimit.ReportAdjustError, Err: failed.adjust})
	}
	for policy, n := range s.evictions.take() {
		s.observer.Reported(ctx, ratelimit.Report{Kind: ratelimit.ReportEvicted, Policy: policy, N: n})
	}
}
