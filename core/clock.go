package ratelimit

import (
	"sync/atomic"
	"time"
)

const maxInstant = 1<<53 - 1 // µs since 1970: the year 2255

// clock tells the wall time in µs by one monotonic read, which is all that a
// decision should pay: half of time.Now. The wall is read again once a second.
type clock struct {
	now    func() time.Time // nil: the machine's
	base   time.Time
	offset atomic.Int64 // wall − monotonic, ns
	due    atomic.Int64 // monotonic ns at which the wall is to be read again
}

func (c *clock) micros() int64 {
	if c.now != nil {
		return instant(c.now().UnixMicro())
	}
	mono := int64(time.Since(c.base))
	if mono >= c.due.Load() {
		c.offset.Store(time.Now().UnixNano() - mono)
		c.due.Store(mono + int64(time.Second))
	}
	return instant((c.offset.Load() + mono) / 1000)
}

// instant keeps a time within the years that the arithmetic is exact for.
func instant(micros int64) int64 { return min(max(0, micros), maxInstant) }
