package approx

import (
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	usualEvery   = 100 * time.Millisecond
	usualTimeout = time.Second
	shortest     = time.Millisecond // of Every and Timeout
	longest      = time.Minute
)

// Config is the configuration of a Store. Its zero value is the usual one.
type Config struct {
	// Every is the time from one exchange with the shared store to the next: 1 ms to
	// 1 minute; 0 means 100 ms. The overshoot grows with it, see [Store]. Open
	// refuses limits whose Window is shorter, and it should be many times as long.
	Every time.Duration

	// Timeout bounds one exchange, and what a Reset waits for the shared store: 1 ms
	// to 1 minute; 0 means 1 second. No decision waits for it.
	Timeout time.Duration

	// MaxKeys bounds the keys of the local copy, for each policy as
	// [ratelimit.MemoryConfig] says, and the keys that wait for an exchange, for all
	// policies together; 0 means [ratelimit.DefaultMaxKeys].
	MaxKeys int

	// Now is the clock of the local copy; nil means the machine's. Exchanges are timed
	// by the machine's in any case.
	Now func() time.Time

	// Observer is told, at most once an exchange, of exchanges that failed, of refunds
	// that were lost with them, and of evictions from the local copy; nil: nobody.
	Observer ratelimit.Observer
}

// filled returns the configuration with its zero fields resolved, or all that is
// wrong with it.
func (c Config) filled() (Config, error) {
	var errs []error
	span := func(field string, d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
		if *d < shortest || *d > longest {
			errs = append(errs, &ratelimit.ConfigError{Field: field, Reason: fmt.Sprintf("must be %v to %v, is %v", shortest, longest, *d)})
		}
	}
	span("Every", &c.Every, usualEvery)
	span("Timeout", &c.Timeout, usualTimeout)
	if c.MaxKeys == 0 {
		c.MaxKeys = ratelimit.DefaultMaxKeys
	}
	if c.MaxKeys < 0 {
		errs = append(errs, &ratelimit.ConfigError{Field: "MaxKeys", Reason: fmt.Sprintf("must not be negative, is %d", c.MaxKeys)})
	}
	return c, errors.Join(errs...)
}
