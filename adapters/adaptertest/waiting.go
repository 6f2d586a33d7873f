package adaptertest

import (
	"context"
	"net/http"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// waiting: requests that are told to wait, on the machine's clock, since it is the
// limiter that waits and not the store.
func waiting() []testCase {
	return []testCase{
		{name: "a delayed request waits its turn", run: waitsItsTurn},
		{name: "a client that hangs up gives its place back", needs: HangUp, run: hangsUp},
	}
}

func waitsItsTurn(s *suite) {
	// It takes real time: synctest's clock stands still for nobody who waits on a
	// connection, and a bound from below does not fail on a slow machine.
	const every = 30 * time.Millisecond
	delayed := forAll("api", ratelimit.Per(1, every))
	delayed.Over = ratelimit.Delay(every)
	c := s.serve(one(s.limits(delayed)))

	begin := time.Now()
	c.get("/").left(0)
	c.get("/").left(0)
	if waited := time.Since(begin); waited < every {
		s.Errorf("the second was answered after %v, want at least %v", waited, every)
	}
	c.get("/").denied() // by the case's clock, which stands, the queue is full
}

func hangsUp(s *suite) {
	delayed := ratelimit.Policy{
		Name: "api", Limit: ratelimit.PerHour(1), Key: keyfuncs.Everyone, Over: ratelimit.Delay(time.Hour),
	}
	store := &watchedStore{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: s.clock.Now}),
		taken:    make(chan struct{}, 8),
		adjusted: make(chan error, 8),
	}
	app := one(s.configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{delayed}}))
	app.Routes[0].Enter = func() { s.ran.Add(1) }
	c := s.serve(app)

	c.get("/").left(0)
	if _, ok := within(store.taken); !ok {
		s.Fatal("the store was not asked")
	}
	ctx, hangUp := context.WithCancel(s.Context())
	defer hangUp()
	go func() {
		within(store.taken) // it is told to wait an hour
		hangUp()
	}()
	resp, err := c.http.Do(c.request(http.MethodGet, "/", "").WithContext(ctx))
	if err == nil {
		resp.Body.Close()
		s.Errorf("answered %d after an hour's wait", resp.StatusCode)
	}
	if err, ok := within(store.adjusted); err != nil || !ok {
		s.Errorf("the reservation was not given back: %v", err)
	}
	if n := s.ran.Load(); n != 1 {
		s.Errorf("the handler ran %d times, want 1", n)
	}
	s.clock.Advance(time.Hour)
	c.get("/").left(0) // no debt is left
}

// within returns what comes on ch, unless that takes too long.
func within[T any](ch <-chan T) (v T, ok bool) {
	select {
	case v = <-ch:
		return v, true
	case <-time.After(10 * time.Second):
		return v, false
	}
}

// watchedStore tells when it was called.
type watchedStore struct {
	ratelimit.Store
	taken    chan struct{}
	adjusted chan error
}

func (w *watchedStore) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	err := w.Store.Take(ctx, charges, results)
	w.taken <- struct{}{}
	return err
}

func (w *watchedStore) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	err := w.Store.Adjust(ctx, adjustments)
	w.adjusted <- err
	return err
}
