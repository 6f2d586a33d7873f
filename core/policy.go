package ratelimit

import (
	"time"
)

// KeyFunc says who is counted. It appends the key to dst and returns the extended
// slice, as append does; it must not keep dst, read what lies behind its end, or keep
// the request's strings. It returns
// [ErrNoKey] where the request carries no identity; any other error answers 500.
// Package keyfuncs has the usual ones; keyfuncs.Func wraps a func(Request) string.
type KeyFunc func(dst []byte, r Request) ([]byte, error)

// CostFunc says what a request costs, in units. An error or a negative cost
// answers 500; 0 is admitted and charges nothing.
type CostFunc func(r Request) (int64, error)

// Policy is one limit on requests: which, counted by what key, at what cost, and
// what happens above it. Name, Limit and Key are required; every other zero value
// is the usual choice.
type Policy struct {
	Name  string   // [a-z0-9][a-z0-9._-]{0,63}: header and metric label, part of the stored key
	Limit Limit    // how much
	Key   KeyFunc  // who is counted; there is no safe default
	Cost  CostFunc // nil: 1

	// If says which requests the policy is for; nil: all. Those it is not for
	// are neither counted nor shown the limit.
	If func(Request) bool

	// Vary returns the limit in force for one request, given Limit; nil: Limit.
	// Quota and Burst may change, at most up to Most's; algorithm and window may
	// not. An invalid limit answers 500.
	Vary func(Request, Limit) Limit
	Most Limit // bounds what Vary returns; zero: Limit

	Over      Over        // what happens above the limit
	OnFailure FailureMode // what happens when the store fails; zero: Config.OnFailure
	NoKey     NoKey       // what happens to requests without a key
}

// Over says what happens to a charge that does not fit. The zero Over is [Reject].
type Over struct {
	action overAction
	wait   time.Duration
}

type overAction uint8

const (
	overReject overAction = iota
	overDelay
	overShadow
	overMeter
)

// Reject denies the request: 429.
func Reject() Over { return Over{} }

// Delay lets the request wait for up to most, in whole microseconds, and denies
// it where that is not enough. For token bucket and GCRA only: a leaky bucket
// waits by itself, up to its Burst.
func Delay(most time.Duration) Over { return Over{action: overDelay, wait: most} }

// Shadow counts and reports, and never denies: for trying a limit out. A shadow
// policy does not show in the headers, and does not answer 503 when the store fails.
func Shadow() Over { return Over{action: overShadow} }

// Meter admits above the quota and counts on, into debt: for usage that is billed.
// A meter shows in X-RateLimit headers only where no policy enforces.
func Meter() Over { return Over{action: overMeter} }

// mode is what the store is told.
func (o Over) mode() Mode {
	switch o.action {
	case overShadow:
		return Observe
	case overMeter:
		return Force
	default:
		return Enforce
	}
}

// NoKey says what a policy does with a request that carries no key.
type NoKey uint8

const (
	NoKeyShared NoKey = iota // all of them share one bucket: still limited
	NoKeySkip                // the policy does not apply
	NoKeyDeny                // 429, without a Retry-After
)

// FailureMode says what happens to a request whose store failed.
type FailureMode uint8

const (
	FailDefault FailureMode = iota // as Config says; there: FailLocal where there is a Fallback, else FailOpen
	FailOpen                       // admitted, uncounted, without budget headers
	FailClosed                     // 503
	FailLocal                      // counted on Config.Fallback, at Config.Share of the limit; FailOpen if that fails too
)
