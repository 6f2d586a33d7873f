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
	usualTimeouts = 1
)

// Config is the configuration of a Store. Its zero value is the usual one.
type Config struct {
	// Timeout is how long a caller waits for the store; 0 means 100 ms. A caller's own
	// deadline that passes before is one of the Failures, if it left the store at least
	// a tenth of Timeout; a shorter one tells nothing.
	Timeout time.Duration

	// OpenFor is how long the breaker stays open before it lets a call through to
	// see whether the store is back; 0 means 500 ms.
	OpenFor time.Duration

	// Failures is how many in a row open the breaker, time-outs among them; 0 means 5.
	Failures int

	// Timeouts is how many of the failures in a row must be time-outs to open it; 0
	// means 1; at most Failures. With 1, one reply slower than Timeout makes all
	// requests go on as their failure modes say for OpenFor. Take 2 or 3 where single
	// slow replies are usual: an outage then costs as many time-outs before it opens,
	// all of which may fall on one request.
	Timeouts int

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
	if c.Timeouts < 0 {
		negative("Timeouts", c.Timeouts)
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
	if c.Timeouts == 0 {
		c.Timeouts = usualTimeouts
	}
	if c.Failures > 0 && c.Timeouts > c.Failures {
		errs = append(errs, &ratelimit.ConfigError{
			Field: "Timeouts", Reason: fmt.Sprintf("must be at most Failures (%d), since a time-out is a failure, is %d", c.Failures, c.Timeouts),
		})
	}
	return c, errors.Join(errs...)
}
