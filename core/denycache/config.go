package denycache

import (
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	usualMaxAge  = time.Second
	longestAge   = time.Hour
	usualMaxKeys = 1 << 16
	mostMaxKeys  = 1 << 30
)

// Config is the configuration of a Store. Its zero value is the usual one.
type Config struct {
	// MaxAge is how long a denial is believed at most: a refund, a Reset or a raised
	// limit that another instance made is seen after that long. 1 µs to 1 hour; 0 means
	// 1 second.
	MaxAge time.Duration

	// MaxKeys bounds the denials remembered, of about 300 bytes each: 1 to 2^30; 0
	// means 65,536. A new one displaces, of a sample, the one that is over soonest.
	MaxKeys int

	// Now is the clock, which counts in whole microseconds; nil means the machine's,
	// which does not step. It is called once a Take, and once more for each denial
	// that is remembered.
	Now func() time.Time
}

// filled returns the configuration with its zero fields resolved, or all that is
// wrong with it.
func (c Config) filled() (Config, error) {
	var errs []error
	if c.MaxAge == 0 {
		c.MaxAge = usualMaxAge
	}
	if c.MaxAge < time.Microsecond || c.MaxAge > longestAge {
		errs = append(errs, &ratelimit.ConfigError{Field: "MaxAge", Reason: fmt.Sprintf("must be 1µs to %v, is %v", longestAge, c.MaxAge)})
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = usualMaxKeys
	}
	if c.MaxKeys < 1 || c.MaxKeys > mostMaxKeys {
		errs = append(errs, &ratelimit.ConfigError{Field: "MaxKeys", Reason: fmt.Sprintf("must be 1 to %d, is %d", mostMaxKeys, c.MaxKeys)})
	}
	return c, errors.Join(errs...)
}
