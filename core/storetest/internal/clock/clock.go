// Package clock is a clock that stands still until it is set.
package clock

import (
	"sync/atomic"
	"time"
)

// Clock tells the instant it was last set to, in µs since 1970. Its zero value
// stands at 1970. It is safe for concurrent use.
type Clock struct{ us atomic.Int64 }

// Set sets the clock; it may step back.
func (c *Clock) Set(us int64) { c.us.Store(us) }

// Add moves the clock.
func (c *Clock) Add(us int64) { c.us.Add(us) }

// Micros returns the instant in µs since 1970.
func (c *Clock) Micros() int64 { return c.us.Load() }

// Now returns the instant.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.us.Load()) }
