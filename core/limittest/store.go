package limittest

import (
	"context"
	"slices"
	"sync"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Store is a [ratelimit.Store] that counts nothing: it admits, denies or fails as
// it was last told, and remembers what was asked of it. Put it where the app would
// have its own:
//
//	store := limittest.Deny(30 * time.Second)
//	limits := ratelimit.Must(ratelimit.Config{Store: store, Policies: app.Policies})
//
// The zero Store admits everything. Safe for concurrent use; not to be copied
// after its first use.
type Store struct {
	// Now is the clock that headers are computed from: a result's Now is
	// the store's own instant, and X-RateLimit-Reset, an epoch, is that instant
	// plus ResetAfter. nil means the machine's clock. Set it before the first use.
	Now func() time.Time

	mu     sync.Mutex
	decide func(Asked) (ratelimit.Result, error)
	asked  []Asked
}

// Asked is one charge that was asked of a Store.
type Asked struct {
	Policy string
	Key    string // as the key function made it; for requests without a key, the shared bucket's
	Limit  ratelimit.Limit
	Cost   int64
	Mode   ratelimit.Mode
}

// Allow returns a store that admits everything.
func Allow() *Store { return new(Store) }

// Deny returns a store that denies everything and tells to retry after that long,
// which may be [ratelimit.Never].
func Deny(retryAfter time.Duration) *Store {
	s := new(Store)
	s.Deny(retryAfter)
	return s
}

// Fail returns a store that is down: everything fails with err.
func Fail(err error) *Store {
	s := new(Store)
	s.Fail(err)
	return s
}

// Allow makes the store admit everything from now on. Each charge is answered as
// the first one of a window that has just begun.
func (s *Store) Allow() { s.Decide(nil) }

// Deny makes the store deny everything from now on, at a used-up quota. Policies
// that never deny (Shadow, Meter) still do not.
func (s *Store) Deny(retryAfter time.Duration) {
	s.Decide(func(a Asked) (ratelimit.Result, error) {
		return ratelimit.Result{
			Used:       a.Limit.Capacity(),
			RetryAfter: retryAfter,
			ResetAfter: max(a.Limit.Window, finite(retryAfter)),
			NextAfter:  finite(retryAfter),
		}, nil
	})
}

// Fail makes everything fail with err from now on.
func (s *Store) Fail(err error) {
	s.Decide(func(Asked) (ratelimit.Result, error) { return ratelimit.Result{}, err })
}

// Decide makes the store ask decide about each charge from now on: to deny one
// policy only, or to answer with given numbers. It need not fill the receipt. nil
// admits everything. decide is called on the request's goroutine.
func (s *Store) Decide(decide func(Asked) (ratelimit.Result, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide = decide
}

// Asked returns what was asked for so far, in order, looks (cost 0) included.
func (s *Store) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Limiter returns a limiter on the store that holds policies. Without any it has
// one, called "test": 100 a minute, for everyone together. It panics on what
// [ratelimit.New] refuses.
func (s *Store) Limiter(policies ...ratelimit.Policy) *ratelimit.Limiter {
	if len(policies) == 0 {
		everyone := func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "everyone"...), nil }
		policies = []ratelimit.Policy{{Name: "test", Limit: ratelimit.PerMinute(100), Key: everyone}}
	}
	return ratelimit.Must(ratelimit.Config{Store: s, Policies: policies})
}

// Open implements [ratelimit.Store].
func (s *Store) Open(*ratelimit.Space) error { return nil }

// Take implements [ratelimit.Store].
func (s *Store) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	asked := make([]Asked, len(charges))
	for i, c := range charges {
		asked[i] = Asked{Policy: c.Space.Policy, Key: string(c.Key), Limit: c.Limit, Cost: c.Cost, Mode: c.Mode}
	}
	s.mu.Lock()
	decide := s.decide
	s.asked = append(s.asked, asked...)
	s.mu.Unlock()
	if decide == nil {
		decide = first
	}

	at := s.micros()
	admitted := true
	for i, a := range asked {
		r, err := decide(a)
		if err != nil {
			return err
		}
		if a.Cost == 0 {
			r.Allowed, r.RetryAfter = true, 0 // a look is always allowed
		}
		admitted = admitted && (r.Allowed || a.Mode == ratelimit.Observe || a.Mode == ratelimit.Force)
		r.Now, r.Receipt.At = at, at
		results[i] = r
	}
	for i, a := range asked {
		if admitted && (results[i].Allowed || a.Mode == ratelimit.Force) {
			results[i].Receipt.Units = a.Cost
		}
	}
	return nil
}

// Adjust implements [ratelimit.Store]. It corrects nothing, since nothing is
// counted, and fails where the store was told to.
func (s *Store) Adjust(_ context.Context, adjustments []ratelimit.Adjustment) error {
	s.mu.Lock()
	decide := s.decide
	s.mu.Unlock()
	if decide == nil {
		return nil
	}
	for _, a := range adjustments {
		_, err := decide(Asked{Policy: a.Space.Policy, Key: string(a.Key), Limit: a.Limit})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) micros() int64 {
	if s.Now != nil {
		return s.Now().UnixMicro()
	}
	return time.Now().UnixMicro()
}

// first answers as a fixed window does at its start.
func first(a Asked) (ratelimit.Result, error) {
	r := ratelimit.Result{Allowed: true, Used: a.Cost, Remaining: max(0, a.Limit.Capacity()-a.Cost)}
	if a.Cost > 0 {
		r.ResetAfter, r.NextAfter = a.Limit.Window, a.Limit.Window
	}
	return r, nil
}

// finite is d, or 0 where it is Never: no quota is away for ever.
func finite(d time.Duration) time.Duration {
	if d == ratelimit.Never {
		return 0
	}
	return d
}
