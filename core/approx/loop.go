package approx

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// loop is the goroutine that makes the exchanges.
type loop struct {
	mu    sync.Mutex   // held where the goroutine is started, or no more to be started
	state atomic.Int32 // idle, running or closed
	wait  sync.WaitGroup
	done  chan struct{} // closed with Close
}

const (
	idle int32 = iota
	running
	closed
)

// wake starts the goroutine, if it is not running and may.
func (s *Store) wake() {
	if s.loop.state.Load() != idle {
		return
	}
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	if s.loop.state.CompareAndSwap(idle, running) {
		s.loop.wait.Go(s.run)
	}
}

// run makes an exchange now and then, until there is nothing left to exchange.
func (s *Store) run() {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-s.loop.done:
			return
		case <-tick.C:
		}
		if s.loop.state.Load() == closed { // both were ready: an exchange takes longer than Every
			return
		}
		s.report(s.exchange(context.Background()))
		if s.rest() {
			return
		}
	}
}

// rest reports whether the goroutine may end. A key that comes at the same moment
// finds it idle and starts another, or is found here.
func (s *Store) rest() bool {
	if !s.loop.state.CompareAndSwap(running, idle) {
		return false // closed
	}
	return s.tracked.Load() == 0 || !s.loop.state.CompareAndSwap(idle, running)
}

// Flush makes an exchange now, after one that is under way, and returns why it failed,
// wholly or in part, without telling the observer. What was not sent is sent by
// the next one. It ends with ctx, and after Config.Timeout in any case.
func (s *Store) Flush(ctx context.Context) error {
	failed := s.exchange(ctx)
	s.report(failure{})
	return errors.Join(failed.take, failed.adjust)
}

// Close ends the goroutine, after an exchange that is under way, and makes a last
// exchange. It returns as Flush does. Decisions go on after it, on the copy, but only
// Flush shares them.
func (s *Store) Close() error {
	if s == nil || s.shared == nil {
		return nil
	}
	s.loop.mu.Lock()
	if s.loop.state.Swap(closed) != closed {
		close(s.loop.done)
	}
	s.loop.mu.Unlock()
	s.loop.wait.Wait()
	return s.Flush(context.Background())
}
