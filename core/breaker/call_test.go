package breaker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// answers is a store that returns what it is told.
type answers struct {
	ratelimit.Store
	err error
}

func (a answers) Take(_ context.Context, _ []ratelimit.Charge, results []ratelimit.Result) error {
	results[0].Used = 7
	return a.err
}

// An answer that came in time counts, also where the caller looks only after the
// deadline because the process stood still.
func TestStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, answer := range []error{nil, errors.New("connection refused")} {
			s, err := New(answers{err: answer}, Config{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 50 { // as a select takes either
				ctx, cancel := context.WithTimeout(t.Context(), s.timeout)
				results := make([]ratelimit.Result, 1)
				c := s.newCall()
				c.theirs = asked{charges: make([]ratelimit.Charge, 1), results: results}
				c.ours.from(&c.theirs)
				c.deadline, c.callCtx = deadlineOf(ctx, time.Now(), s.timeout), ctx
				c.serve()
				time.Sleep(3 * s.timeout)
				if err := c.wait(); err != answer || c.left || results[0].Used != 7 {
					t.Fatalf("call %d: %v, left %v, %+v; want %v and the result", i, err, c.left, results[0], answer)
				}
				cancel()
			}
			if behind := s.Stats().Behind; behind != 0 {
				t.Errorf("%d behind, want none", behind)
			}
		}
	})
}
