package breaker

import (
	"context"
	"sync"
	"time"
)

// callContext is the context of one call of the store. It has the caller's values
// and a deadline, and does not end when the caller's context is cancelled.
//
// It is what context.WithDeadline makes of context.WithoutCancel, in one allocation
// instead of six: who waits for the call has a timer already. It is never reused: the
// store may keep it beyond the call.
type callContext struct {
	parent   context.Context
	deadline time.Time

	mu   sync.Mutex
	done chan struct{} // made when it is asked for
	err  error         // why it ended
}

func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Value hides that there is a context to be cancelled above: package context looks for
// it by a key of its own.
func (c *callContext) Value(key any) any { return context.WithoutCancel(c.parent).Value(key) }

func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// end ends the context. It is called once.
func (c *callContext) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	if c.done != nil {
		close(c.done)
	}
}
