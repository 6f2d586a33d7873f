// Package breaker is a store that keeps the outage of another one from costing more
// than microseconds: a time-out, and a circuit breaker.
//
// Put it around a store that is reached over a network. An outage of that store then
// costs the calls that are under way when it begins, and until the breaker opens, up to
// one [Config.Timeout] each, and after that one call each [Config.OpenFor] the same. All
// others go on within microseconds, as their policies' failure modes say.
//
//	store, err := breaker.New(redis, breaker.Config{})
//	limits := ratelimit.Must(ratelimit.Config{Store: store, Policies: policies})
package breaker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// Store is a [ratelimit.Store] that hands calls to the one that it was made from, as
// long as that one answers. It models a fuse.
//
// Closed, it hands on every call and waits for at most the time-out. A time-out (or as
// many as [Config.Timeouts] says), or several failures in a row, open it: calls are
// refused with [ErrOpen], without an allocation or a goroutine. After a while it is
// half-open and lets one call through, whose success closes it and whose failure opens
// it again. The observer is told of each change of state once, in order, and may call
// the store.
//
// A failure is any error of the store, and a panic. A time-out is also an error of the
// store that wraps context.DeadlineExceeded or os.ErrDeadlineExceeded. Neither
// success nor failure is an error that wraps [ratelimit.ErrMisuse] or [ratelimit.ErrBusy].
//
// A caller that is cancelled, as by a client that hangs up, changes nothing: the call
// goes on, is waited for, and charges. A caller's deadline that is before the
// time-out ends the call in its place, with an error that wraps
// context.DeadlineExceeded; one that has passed already makes no call. That is a
// failure, but no time-out, if the store had at least a tenth of the time-out to
// answer. With less time it is neither success nor failure.
//
// Each call runs on a goroutine that ends with it, on copies of what it was given.
// The context that the store gets ends when its caller leaves. A store that ignores
// this stays behind, one goroutine for each caller that left: [Stats] tells how many.
//
// A panic of the store is passed on to the caller, on the caller's goroutine, as an
// error value that holds the stack and unwraps to the value if that is an error. If the
// caller has left, it is reported as a ratelimit.ReportStoreError or
// ReportAdjustError.
//
// The zero Store is refused by Open: make one with [New]. There is nothing to close.
// Safe for concurrent use.
type Store struct {
	store   ratelimit.Store
	timeout time.Duration
	circuit *gobreaker.CircuitBreaker[struct{}]
	changes changes
	calls   sync.Pool // of *call

	state   atomic.Int32
	opened  atomic.Int64
	refused atomic.Int64
	behind  atomic.Int64
}

// New returns a breaker around a store. It returns all that is wrong with the
// configuration, as *[ratelimit.ConfigError] values joined. The store is not called.
func New(store ratelimit.Store, config Config) (*Store, error) {
	config, err := config.filled()
	if store == nil {
		err = errors.Join(&ratelimit.ConfigError{Field: "Store", Reason: "is nil: a breaker needs one to call"}, err)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{store: store, timeout: config.Timeout, changes: changes{observer: config.Observer}}
	s.circuit = s.newCircuit(config)
	return s, nil
}

// Open implements [ratelimit.Store]. It is the other store's Open, whatever the
// breaker's state: it is called at the start, and asks nothing of a network.
func (s *Store) Open(space *ratelimit.Space) error {
	if s == nil || s.store == nil {
		return &ratelimit.ConfigError{Field: "Store", Reason: "is no breaker.Store: New makes one"}
	}
	return s.store.Open(space)
}

// Take implements [ratelimit.Store]. Beside the other store's errors, which it returns
// as they are, it returns [ErrOpen], and errors that wrap [ErrTimeout] or the caller's
// context.DeadlineExceeded.
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	return s.call(ctx, asked{charges: charges, results: results})
}

// Adjust implements [ratelimit.Store], with the errors of [Store.Take].
func (s *Store) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	return s.call(ctx, asked{adjusts: true, adjustments: adjustments})
}

func (s *Store) call(ctx context.Context, a asked) error {
	defer s.changes.tell(ctx)
	c, _ := s.calls.Get().(*call)
	if c == nil {
		c = s.newCall()
	}
	c.ctx, c.theirs = ctx, a
	_, err := s.circuit.Execute(c.do)
	c.ctx, c.theirs = nil, asked{}
	if c.left {
		return err
	}
	began := c.began
	c.began, c.callCtx = false, nil
	s.calls.Put(c)
	if !began {
		s.refused.Add(1)
		return ErrOpen
	}
	return err
}
