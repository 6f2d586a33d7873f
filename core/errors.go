package ratelimit

import (
	"errors"
	"fmt"
)

var (
	// ErrNoKey is what a KeyFunc returns where the request carries no identity.
	// Policy.NoKey says what happens then.
	ErrNoKey = errors.New("ratelimit: the request has no key")

	// ErrNever is returned by Wait where no wait suffices: the cost is above the
	// capacity of a limit.
	ErrNever = errors.New("ratelimit: the cost can never be admitted")

	// ErrDeadline is returned by Wait where the context would end first.
	ErrDeadline = errors.New("ratelimit: the wait would exceed the context's deadline")

	// ErrUnavailable is returned by Wait where the store failed and a policy fails
	// closed.
	ErrUnavailable = errors.New("ratelimit: the store is unavailable")

	// ErrMisuse is what a store's error wraps where the call is at fault and not the
	// store: a negative cost, an invalid limit, a space that was never opened. It
	// says nothing about the store's health.
	ErrMisuse = errors.New("ratelimit: misuse of a store")

	// ErrBusy is what a store's error wraps where it was not asked, since more calls
	// wait than it could answer in time. It is a failure, and OnFailure decides; but it
	// says that the store is busy and not that it is down.
	ErrBusy = errors.New("ratelimit: the store is busy")
)

// ConfigError is one mistake in a configuration. Functions that check one return
// all of them joined: use [errors.As] for the first, or print the error for all.
type ConfigError struct {
	Field  string // path of the field, such as `Policies[1] "login": Limit.Quota`
	Reason string // what is wrong with it
}

func (e *ConfigError) Error() string { return "ratelimit: " + e.Field + " " + e.Reason }

// problems collects mistakes, so that all are told at once.
type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, &ConfigError{Field: field, Reason: fmt.Sprintf(format, args...)})
}

// under adds what is wrong inside a part of the configuration, naming the part.
func (p *problems) under(part string, err error) {
	switch e := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			p.under(part, inner)
		}
	case *ConfigError:
		*p = append(*p, &ConfigError{Field: part + e.Field, Reason: e.Reason})
	default:
		if part != "" {
			err = fmt.Errorf("ratelimit: %s%w", part, err)
		}
		*p = append(*p, err)
	}
}

func (p problems) join() error { return errors.Join(p...) }

// errIs is errors.Is for the usual case of the error itself.
func errIs(err, target error) bool { return err == target || errors.Is(err, target) }
