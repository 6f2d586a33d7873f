package breaker

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// call is one call of the store, made on a goroutine of its own so that a caller can
// leave it behind. It is used again, unless it was left behind or panicked.
type call struct {
	owner *Store
	do    func() (struct{}, error) // its method attempt: bound once, since that allocates
	run   func()                   // its method serve, likewise

	// The caller's side.
	ctx    context.Context
	theirs asked
	began  bool
	left   bool

	// The store's side. The caller touches it before the call and once it is back.
	ours     copied
	deadline deadline
	callCtx  context.Context
	panicked *storePanic

	decided atomic.Bool // that the call is back, or left behind: whichever was first
	back    chan error  // takes one
}

func (s *Store) newCall() *call {
	c := &call{owner: s, back: make(chan error, 1)}
	c.do, c.run = c.attempt, c.serve
	return c
}

// attempt makes the call, and waits for its result or its end. It runs if the circuit
// lets it. Whether the caller is cancelled does not matter: what it asked for is to be
// charged all the same, and takes no longer than the time-out.
func (c *call) attempt() (struct{}, error) {
	c.began = true
	c.owner.changes.tell(c.ctx) // that this is the probe
	now := time.Now()
	c.deadline = deadlineOf(c.ctx, now, c.owner.timeout)
	if !now.Before(c.deadline.at) {
		return struct{}{}, c.deadline.passed(nil)
	}
	c.ours.from(&c.theirs)
	ctx, cancel := context.WithDeadline(context.WithoutCancel(c.ctx), c.deadline.at)
	defer cancel()
	c.callCtx = ctx
	c.decided.Store(false)
	go c.run()
	return struct{}{}, c.wait()
}

// wait waits for the result of the call, or leaves it behind at its deadline. A result
// that is there by then counts, however late this looks: the process may have stood
// still.
func (c *call) wait() error {
	var err error
	select {
	case err = <-c.back:
	case <-c.callCtx.Done():
		if c.leave() {
			return c.deadline.passed(nil)
		}
		err = <-c.back
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	c.ours.answer(&c.theirs)
	return err
}

// leave leaves the call behind, unless it is back.
func (c *call) leave() bool {
	c.owner.behind.Add(1) // before the store's side can count it out
	if !c.decided.CompareAndSwap(false, true) {
		c.owner.behind.Add(-1)
		return false
	}
	c.left = true
	return true
}

// serve runs the store on a goroutine of its own.
func (c *call) serve() {
	err := errExited
	defer func() {
		if value := recover(); value != nil {
			c.panicked = &storePanic{value, debug.Stack()}
		}
		if c.decided.CompareAndSwap(false, true) {
			c.back <- err
			return
		}
		c.owner.behind.Add(-1)
		if c.panicked != nil {
			c.orphaned()
		}
	}()
	err = c.ours.of(c.callCtx, c.owner.store)
	if err != nil && !errors.Is(err, ratelimit.ErrMisuse) && !time.Now().Before(c.deadline.at) {
		err = c.deadline.passed(err)
	}
}

// orphaned reports a panic that no caller waits for.
func (c *call) orphaned() {
	r := ratelimit.Report{Kind: ratelimit.ReportStoreError, Err: c.panicked}
	if c.ours.adjusts {
		r.Kind = ratelimit.ReportAdjustError
	}
	r.To(c.callCtx, c.owner.changes.observer)
}
