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

// excluded reports whether an error tells nothing about the store's health. A
// deadline within the chain is that of another breaker below.
func excluded(err error) bool {
	own, ok := err.(*deadlineError)
	return ok && own.short || errors.Is(err, ratelimit.ErrMisuse) || errors.Is(err, ratelimit.ErrBusy)
}

// timedOut reports whether a failure cost its caller a time-out: the breaker's, or
// one of the store's own. A caller's deadline is not one.
func timedOut(err error) bool {
	if _, ok := err.(*deadlineError); ok {
		return false
	}
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
