package redisstore

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	defaultPrefix  = "rl:"
	maxPrefix      = 64
	defaultTimeout = 100 * time.Millisecond
	minTimeout     = time.Millisecond
	maxTimeout     = time.Minute
)

// Config says how a store uses its server. The zero value is a good choice. Observer and
// the client's hooks are called on goroutines of the store's own, where a panic ends the
// process; Now is called on that of the caller.
type Config struct {
	// Prefix is what all keys of the store start with. Stores of one prefix share their
	// counters. "" means "rl:"; up to 64 bytes without braces, which would move keys
	// to other slots.
	Prefix string

	// Timeout is how long a call may take in all; a context's deadline shortens it. 0
	// means 100 ms; 1 ms to 1 minute. What makes a connection counts as well, so leave
	// it at least four round trips to the server.
	Timeout time.Duration

	// Now tells the time, for tests and for hosts whose servers refuse TIME to
	// scripts. The machines that share counters then need clocks that agree. nil means
	// that the server's own clock decides.
	Now func() time.Time

	// Observer is told of corrections that were lost, and once of a client that does
	// not honour the deadlines of contexts. It may be nil.
	Observer ratelimit.Observer
}

// resolve returns the configuration without zero values, or everything that is wrong
// with it.
func (c Config) resolve() (Config, error) {
	c.Prefix = cmp.Or(c.Prefix, defaultPrefix)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	var bad []error
	wrong := func(field, reason string, args ...any) {
		bad = append(bad, &ratelimit.ConfigError{Field: field, Reason: fmt.Sprintf(reason, args...)})
	}
	if len(c.Prefix) > maxPrefix || strings.ContainsAny(c.Prefix, "{}") {
		wrong("Prefix", "must have at most %d bytes and no braces, is %q", maxPrefix, c.Prefix)
	}
	if c.Timeout < minTimeout || c.Timeout > maxTimeout {
		wrong("Timeout", "must be %v to %v, is %v", minTimeout, maxTimeout, c.Timeout)
	}
	return c, errors.Join(bad...)
}
