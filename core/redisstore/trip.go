package redisstore

import (
	"context"
	"sync/atomic"
	"time"
)

// trip is the calls that somebody waits for together. Who waits may leave at the
// deadline: the calls then end on their own, in memory that is theirs.
type trip struct {
	ctx      context.Context // its values are what hooks of the client see
	deadline time.Time
	sendBy   time.Time // what waits for longer would be answered too late, as a rule
	calls    []call

	givesBack bool // what a Take charged that was not admitted: closing waits for it

	open atomic.Int32 // calls without an answer
	left atomic.Bool  // nobody waits any more
	done chan struct{}

	one [1]call
}

// newTrip returns a trip of n calls, which the caller fills in.
func newTrip(ctx context.Context, deadline time.Time, n int) *trip {
	t := &trip{ctx: ctx, deadline: deadline, sendBy: deadline.Add(-time.Until(deadline) / 2), done: make(chan struct{})}
	if n == 1 {
		t.calls = t.one[:]
	} else {
		t.calls = make([]call, n)
	}
	t.open.Store(int32(n))
	for i := range t.calls {
		t.calls[i].trip = t
	}
	return t
}

// answered is called by each call that has its answer.
func (t *trip) answered() {
	if t.open.Add(-1) == 0 {
		close(t.done)
	}
}

// wait waits until all calls are answered, or for the deadline, and reports which.
func (t *trip) wait() bool {
	timer := time.NewTimer(time.Until(t.deadline))
	defer timer.Stop()
	select {
	case <-t.done:
		return true
	case <-timer.C:
		t.left.Store(true)
		return false
	}
}
