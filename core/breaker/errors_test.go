package breaker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// What a call whose deadline passed returns, and what the breaker makes of it.
func TestPassed(t *testing.T) {
	store := errors.New("i/o timeout")
	callers, short := deadline{callers: true}, deadline{callers: true, short: true}
	for _, test := range []struct {
		err                error
		text               string
		wraps              []error
		excluded, timedOut bool
	}{
		{deadline{}.passed(nil), "ratelimit: the store did not answer in time", []error{ErrTimeout}, false, true},
		{
			deadline{}.passed(context.DeadlineExceeded), "ratelimit: the store did not answer in time",
			[]error{ErrTimeout},
			false, true,
		},
		{
			deadline{}.passed(store), "ratelimit: the store did not answer in time: i/o timeout",
			[]error{ErrTimeout, store},
			false, true,
		},
		{
			callers.passed(nil), "ratelimit: the caller's deadline passed before the store answered",
			[]error{context.DeadlineExceeded},
			false, false,
		},
		{
			callers.passed(store), "ratelimit: the caller's deadline passed before the store answered: i/o timeout",
			[]error{context.DeadlineExceeded, store},
			false, false,
		},
		{
			short.passed(context.DeadlineExceeded), "ratelimit: the caller's deadline passed before the store answered",
			[]error{context.DeadlineExceeded},
			true, false,
		},
	} {
		if got := test.err.Error(); got != test.text {
			t.Errorf("%q, want %q", got, test.text)
		}
		for _, target := range test.wraps {
			if !errors.Is(test.err, target) {
				t.Errorf("%v does not wrap %v", test.err, target)
			}
		}
		if excluded(test.err) != test.excluded || timedOut(test.err) != test.timedOut {
			t.Errorf("%v: excluded %v, timed out %v", test.err, excluded(test.err), timedOut(test.err))
		}
	}
}

func TestWhatIsAFailure(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("ratelimit: redis: %w", err) }
	for _, test := range []struct {
		err                error
		excluded, timedOut bool
	}{
		{nil, false, false},
		{errors.New("connection refused"), false, false},
		{wrapped(ratelimit.ErrMisuse), true, false},
		{wrapped(ratelimit.ErrBusy), true, false},
		{wrapped(context.Canceled), false, false},
		{wrapped(context.DeadlineExceeded), false, true},
		{wrapped(os.ErrDeadlineExceeded), false, true},
		{wrapped(deadline{callers: true, short: true}.passed(nil)), false, true}, // of another breaker below
	} {
		if excluded(test.err) != test.excluded || timedOut(test.err) != test.timedOut {
			t.Errorf("%v: excluded %v, timed out %v", test.err, excluded(test.err), timedOut(test.err))
		}
	}
}
