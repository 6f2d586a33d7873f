package breaker

import (
	"context"
	"sync"
	"sync/atomic"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// changes are the changes of state that the observer has yet to be told of. They are
// noted under the circuit's lock and told outside of it, in order, by whichever
// callers come by.
type changes struct {
	observer ratelimit.Observer
	telling  sync.Mutex // held while the observer is told
	untold   atomic.Int32

	mu    sync.Mutex // guards queue
	queue []ratelimit.Report
}

func (c *changes) note(r ratelimit.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, r)
	c.untold.Add(1)
}

// tell tells the observer what it was not told yet. Where another caller is at it
// already, which may be this one from inside the observer, that caller goes on.
func (c *changes) tell(ctx context.Context) {
	for c.untold.Load() > 0 && c.telling.TryLock() {
		c.tellOne(ctx)
	}
}

func (c *changes) tellOne(ctx context.Context) {
	defer c.telling.Unlock()
	if r, ok := c.next(); ok {
		r.To(ctx, c.observer)
	}
}

func (c *changes) next() (r ratelimit.Report, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return r, false
	}
	r, c.queue = c.queue[0], c.queue[1:]
	c.untold.Add(-1)
	return r, true
}
