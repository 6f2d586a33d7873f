package breaker

import (
	"context"
	"fmt"
	"time"
)

// deadline is when a caller stops waiting for the store.
type deadline struct {
	at      time.Time
	callers bool // it is the caller's own, which is before the time-out
	short   bool // it leaves the store too little time to show whether it is well
}

// deadlineOf returns the deadline of a call that begins now. It can have passed.
func deadlineOf(ctx context.Context, now time.Time, timeout time.Duration) deadline {
	own, ok := ctx.Deadline()
	if !ok {
		return deadline{at: now.Add(timeout)}
	}
	left := own.Sub(now)
	if left >= timeout {
		return deadline{at: now.Add(timeout)}
	}
	// Not own itself, which may have a wall clock's time only: a store's timer could
	// then end before it.
	return deadline{at: now.Add(left), callers: true, short: left < max(timeout/10, 1)}
}

// passed returns the error of a call that had not ended by its deadline, or had with
// an error just then, which is the store's.
func (d deadline) passed(err error) error {
	if err == context.DeadlineExceeded {
		err = nil // its context ended before its caller had left: that tells no more
	}
	switch {
	case d.callers:
		return &deadlineError{err: err, short: d.short}
	case err == nil:
		return ErrTimeout
	default:
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
}

// deadlineError is the error where the caller's own deadline was before the time-out.
type deadlineError struct {
	err   error // what the store made of it, if it told
	short bool
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
