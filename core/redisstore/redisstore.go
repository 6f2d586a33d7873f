package redisstore

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Store is a [ratelimit.Store] whose counters live in Redis or Valkey, so that all who
// use one server share one limit. A Take is one script call, and so one round trip,
// where its keys may be in one call; callers that come at once share round trips.
//
// An outage costs a call at most Config.Timeout. A call whose reply is lost is not sent
// again, so nothing is charged twice. A caller's context shortens the wait by its
// deadline; cancelling it neither fails nor loses the charge, which may be on its way.
//
// Methods are safe for concurrent use. The zero value is not usable: see [New] and
// [Open].
type Store struct {
	timeout    time.Duration
	observer   ratelimit.Observer
	client     redis.UniversalClient
	owned      bool // by Open: Close closes it
	dispatcher dispatcher
	counters   counters
	spaces     spaces
	encoder    encoder
	slots      atomic.Bool // keys of different tags go in different calls
	close      func() error
}

// New returns a store that uses a client: *redis.Client (also that of Sentinel),
// *redis.ClusterClient or *redis.Ring. It does not connect. The client remains the
// caller's to close, after the store. Set its ContextTimeoutEnabled, or an outage holds
// its connections for its own time-outs. The error is all that is wrong with config, as
// *ratelimit.ConfigError values joined.
func New(client redis.UniversalClient, config Config) (*Store, error) {
	config, err := config.resolve()
	if v := reflect.ValueOf(client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		err = errors.Join(&ratelimit.ConfigError{Field: "client", Reason: "is required"}, err)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{timeout: config.Timeout, observer: config.Observer, client: client}
	s.dispatcher = dispatcher{client: client, stats: &s.counters, lanes: map[*redis.Client]*lane{}}
	s.encoder = newEncoder(config.Prefix, config.Now, &s.spaces)
	s.close = sync.OnceValue(s.shut)
	honoured := true
	switch c := client.(type) {
	case *redis.Client:
		honoured = c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		honoured = c.Options().ContextTimeoutEnabled
		s.slots.Store(true)
	case *redis.Ring:
		honoured = c.Options().ContextTimeoutEnabled
		s.slots.Store(true)
	}
	if !honoured {
		ratelimit.Report{
			Kind: ratelimit.ReportMisconfigured, Code: ratelimit.CodeClientTimeout,
			Detail: "the Redis client has ContextTimeoutEnabled unset: an outage holds its connections for its own time-outs, longer than calls wait",
		}.To(context.Background(), config.Observer)
	}
	return s, nil
}

// Close ends the store, and the client if [Open] made it. Calls that still wait to be
// sent fail; Close waits for those that were sent, and until what they charged in vain is
// given back, at most for the time-outs. Every call after it fails. It may be called more
// than once, but not from the observer, for which it waits.
func (s *Store) Close() error {
	if s == nil || s.close == nil {
		return nil
	}
	return s.close()
}

func (s *Store) shut() error {
	s.dispatcher.close()
	if !s.owned {
		return nil
	}
	return s.client.Close()
}

// Open prepares the store for a space. It does not connect. It returns an error where
// the space is invalid or holds what the store cannot: a sliding log of more than
// 10,000 units.
func (s *Store) Open(space *ratelimit.Space) error {
	if s == nil || s.client == nil {
		return &ratelimit.ConfigError{Field: "Store", Reason: "is no redisstore.Store: New and Open make one"}
	}
	return s.spaces.open(space)
}

// Take makes all charges or none: see [ratelimit.Store]. An error leaves open whether
// something was charged, unless it wraps [ratelimit.ErrMisuse]. Where the keys are in
// several slots of a cluster, a denied Take charges some for a moment and gives it back:
// see the package's documentation.
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := s.spaces.check(charges, results); err != nil || len(charges) == 0 {
		return err
	}
	s.counters.decisions.Add(1)
	deadline, by := s.deadline(ctx), byTag
	if !s.slots.Load() || sameTag(charges) {
		c, err := s.call(ctx, deadline, spills(charges), func(c *call) { s.encoder.take(c, charges, false) })
		if err == nil {
			return decodeTake(c.reply, charges, results)
		}
		if by = s.learnGrouping(c, err); by == nil {
			return failed(err)
		}
	}
	return s.takeSplit(ctx, deadline, by, charges, results)
}

// Adjust corrects charges: see [ratelimit.Store]. Where an error is returned, what was
// corrected in other slots, or after the call was given up, stays corrected.
func (s *Store) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	for i := range adjustments {
		if err := s.spaces.checkAdjustment(&adjustments[i]); err != nil {
			return err
		}
	}
	if len(adjustments) == 0 {
		return nil
	}
	deadline, by := s.deadline(ctx), byTag
	if !s.slots.Load() || len(adjustments) == 1 {
		c, err := s.call(ctx, deadline, false, func(c *call) { s.encoder.adjust(c, adjustments) })
		if err == nil {
			return decodeAdjust(c.reply, adjustments)
		}
		if by = s.learnGrouping(c, err); by == nil {
			return failed(err)
		}
	}
	return s.adjustSplit(ctx, deadline, by, adjustments)
}

// call makes a trip of one call, which fill fills in. It returns why there is no reply.
func (s *Store) call(ctx context.Context, deadline time.Time, whole bool, fill func(*call)) (*call, error) {
	t := newTrip(ctx, deadline, 1)
	c := &t.calls[0]
	c.whole = whole
	fill(c)
	s.dispatcher.do(t)
	return c, c.failure()
}

// learnGrouping returns how to group the keys of a call that the server refused, and did
// not run, since they were together; nil where it failed for another reason. The store
// remembers a server that has slots.
func (s *Store) learnGrouping(c *call, err error) grouping {
	switch {
	case redis.HasErrorPrefix(err, "CROSSSLOT"): // a plain client, a server in cluster mode
		s.slots.Store(true)
		return byTag
	case c.divisible() && redis.IsTryAgainError(err):
		return byKey
	default:
		return nil
	}
}

// deadline returns when a call that begins now has to be over.
func (s *Store) deadline(ctx context.Context) time.Time {
	end := time.Now().Add(s.timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		return d
	}
	return end
}
