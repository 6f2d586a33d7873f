package breaker

import (
	"context"
	"errors"
	"fmt"
	"os"

	ratelimit "github.com/weirhq/ratelimit/core"
)

var (
	// ErrOpen is returned at once, without asking the store, while the breaker is
	// open, and to all but one caller while it is half-open.
	ErrOpen = errors.New("ratelimit: the store's circuit breaker is open")

	// ErrTimeout is what the error wraps where the store did not answer within
	// Config.Timeout. Whether it charged is not known.
	ErrTimeout = errors.New("ratelimit: the store did not answer in time")
)

var errExited = errors.New("ratelimit: the store ended the goroutine that it was called on")

// deadlineError is the error where the caller's own deadline was before the time-out.
type deadlineError struct {
	err error // what the store made of it, if it told
}

const deadlineText = "ratelimit: the caller's deadline passed before the store answered"

func (e *deadlineError) Error() string {
	if e.err == nil {
		return deadlineText
	}
	return deadlineText + ": " + e.err.Error()
}

func (e *deadlineError) Unwrap() []error {
	if e.err == nil {
		return []error{context.DeadlineExceeded}
	}
	return []error{context.DeadlineExceeded, e.err}
}

// late returns the error of a call that did not end in time. The store's own, if any,
// is that of a clock a little ahead of the timer's.
func late(callers bool, err error) error {
	switch {
	case callers:
		return &deadlineError{err}
	case err == nil:
		return ErrTimeout
	default:
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
}

// excluded reports whether an error tells nothing about the store's health. A
// deadline within the chain is that of another breaker below.
func excluded(err error) bool {
	_, callers := err.(*deadlineError)
	return callers || errors.Is(err, ratelimit.ErrMisuse)
}

// timedOut reports whether a failure cost its caller a time-out: the breaker's, or
// one of the store's own.
func timedOut(err error) bool {
	return errors.Is(err, ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// storePanic is a panic of the store's, on its way from the goroutine that it
// happened on to the caller's. It brings its stack, which is not the caller's.
type storePanic struct {
	value any
	stack []byte
}

func (p *storePanic) Error() string {
	return fmt.Sprintf("ratelimit: the store panicked: %v\n\n%s", p.value, p.stack)
}

func (p *storePanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}
