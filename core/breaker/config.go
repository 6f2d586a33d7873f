package breaker

import (
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	usualTimeout  = 100 * time.Millisecond
	usualOpenFor  = 500 * time.Millisecond
	usualFailures = 5
)

// Config is the configuration of a Store. Its zero value is the usual one.
type Config struct {
	// Timeout is how long a caller waits for the store; 0 means 100 ms. It is what an
	// outage costs those who meet it first, and one caller each OpenFor.
	Timeout time.Duration

	// OpenFor is how long the breaker stays open before it lets a call through to
	// see whether the store is back; 0 means 500 ms.
	OpenFor time.Duration

	// Failures is how many in a row open the breaker; 0 means 5. A time-out opens it
	// at once, since each more would cost a request the whole Timeout.
	Failures int

	// Observer is told of each change of state, and of a panic that no caller waits
	// for any more; nil: nobody.
	Observer ratelimit.Observer
}

// filled returns the configuration with its zero fields resolved, or all that is
// wrong with it.
func (c Config) filled() (Config, error) {
	var errs []error
	negative := func(field string, value any) {
		errs = append(errs, &ratelimit.ConfigError{Field: field, Reason: fmt.Sprintf("must not be negative, is %v", value)})
	}
	if c.Timeout < 0 {
		negative("Timeout", c.Timeout)
	}
	if c.OpenFor < 0 {
		negative("OpenFor", c.OpenFor)
	}
	if c.Failures < 0 {
		negative("Failures", c.Failures)
	}
	if c.Timeout == 0 {
		c.Timeout = usualTimeout
	}
	if c.OpenFor == 0 {
		c.OpenFor = usualOpenFor
	}
	if c.Failures == 0 {
		c.Failures = usualFailures
	}
	return c, errors.Join(errs...)
}
