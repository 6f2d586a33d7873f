package breaker

import (
	"github.com/sony/gobreaker/v2"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// State is where a circuit breaker stands.
type State int

// The states.
const (
	Closed   = State(gobreaker.StateClosed)   // calls go to the store
	HalfOpen = State(gobreaker.StateHalfOpen) // one call is on its way to see whether the store is back
	Open     = State(gobreaker.StateOpen)     // calls are refused
)

// String returns the state in words: "closed", "half-open" or "open".
func (s State) String() string { return gobreaker.State(s).String() }

// newCircuit returns the state machine of a store. It calls the functions that it is
// given under its lock, which therefore guards failure and timeouts.
func (s *Store) newCircuit(config Config) *gobreaker.CircuitBreaker[struct{}] {
	var failure error // what the call that is being counted failed with
	var timeouts int  // since the last success
	return gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     config.OpenFor,
		IsExcluded:  excluded,
		IsSuccessful: func(err error) bool {
			failure = err
			switch {
			case err == nil:
				timeouts = 0
			case timedOut(err):
				timeouts++
			}
			return err == nil
		},
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return timeouts >= config.Timeouts || int64(counts.ConsecutiveFailures) >= int64(config.Failures)
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			s.state.Store(int32(to))
			r := ratelimit.Report{Kind: ratelimit.ReportBreaker, Detail: from.String() + " to " + to.String()}
			if to == gobreaker.StateOpen {
				s.opened.Add(1)
				r.Err = failure
			}
			s.changes.note(r)
		},
	})
}

// State returns where the breaker stands. It asks for no lock and changes nothing: a
// breaker that was open long enough is half-open once a call comes.
func (s *Store) State() State { return State(s.state.Load()) }

// Stats are a Store's totals.
type Stats struct {
	Opened  int64 // how often the breaker opened, since the start
	Refused int64 // calls that got ErrOpen, since the start
	Behind  int64 // calls whose caller has left, and that the store has not returned from
}

// Stats returns the totals. They are read one after the other, without a lock. A Behind
// that only grows tells of a store that ignores the end of its contexts.
func (s *Store) Stats() Stats {
	return Stats{Opened: s.opened.Load(), Refused: s.refused.Load(), Behind: s.behind.Load()}
}
