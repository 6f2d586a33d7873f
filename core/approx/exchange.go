package approx

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	batchKeys     = 128 // keys a Take of the shared store
	batchesAtOnce = 8
	singlesAtOnce = 16 // for each batch that was refused
)

// exchange sends what is pending, and sets the copy to the answers.
func (s *Store) exchange(ctx context.Context) failure {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.begin(ctx); err != nil {
		return failure{take: err}
	}
	defer s.end()
	var keys []*entry
	for i := range s.shards {
		var forgotten int
		keys, forgotten = s.shards[i].collect(keys)
		s.tracked.Add(-int64(forgotten))
	}
	if keys == nil {
		return failure{}
	}
	x := exchange{store: s}
	parallel((len(keys)+batchKeys-1)/batchKeys, batchesAtOnce, func(i int) {
		x.send(ctx, x.prepare(keys[i*batchKeys:min((i+1)*batchKeys, len(keys))]))
	})
	s.exchanges.Add(1)
	if x.failed != (failure{}) {
		s.failures.Add(1)
	}
	return x.failed
}

// begin waits for the turn: an exchange and a Reset, or two of them, do not overlap.
func (s *Store) begin(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ratelimit: waiting for an exchange to end: %w", ctx.Err())
	}
}

func (s *Store) end() { <-s.turn }

// failure is what went wrong first, of each kind.
type failure struct {
	take   error // something will be sent again
	adjust error // a refund was lost
}

// exchange is one under way.
type exchange struct {
	store  *Store
	mu     sync.Mutex
	failed failure
}

func (x *exchange) fail(take, adjust error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed.take == nil {
		x.failed.take = take
	}
	if x.failed.adjust == nil {
		x.failed.adjust = adjust
	}
}

// parallel calls f with 0 to n − 1, so many at once at most, and waits for all.
func parallel(n, atOnce int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, atOnce) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
