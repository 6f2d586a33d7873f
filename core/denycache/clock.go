package denycache

import "time"

const maxInstant = 1<<53 - 1 // µs since 1970: where stores' clocks stop

// clock tells instants in whole µs, rounded down.
type clock struct {
	now  func() time.Time // nil: the machine's monotonic one, from base
	base time.Time

	// slack is how much, in µs, the store's clock may have moved while this one shows
	// one instant: they do not tick together, unless they are one that is injected.
	slack int64
}

func newClock(now func() time.Time) clock {
	if now != nil {
		return clock{now: now}
	}
	return clock{base: time.Now(), slack: 1}
}

func (c *clock) micros() int64 {
	if c.now == nil {
		return time.Since(c.base).Microseconds()
	}
	return min(max(0, c.now().UnixMicro()), maxInstant)
}
