package limittest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is told to move. Hand its Now to
// what takes a clock:
//
//	var clock limittest.Clock
//	store := ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now})
//
// The zero Clock is ready: it shows the first of January 2026, 00:00:00 UTC, where
// every window of a whole part of a day begins. Safe for concurrent use; not to be
// copied after its first use.
type Clock struct {
	mu      sync.Mutex
	started bool
	now     time.Time
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// Advance moves the clock by d, back where d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.read().Add(d)
}

// Set moves the clock to t.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.now = true, t
}

func (c *Clock) read() time.Time {
	if !c.started {
		c.started, c.now = true, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return c.now
}
