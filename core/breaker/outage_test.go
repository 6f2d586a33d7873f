package breaker_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

// A black hole costs 100 calls one time-out in all.
func TestBlackHoleInSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		b.backend.does(hangs)
		start := time.Now()
		for range 100 {
			if _, err := b.take(t.Context()); err == nil {
				t.Fatal("a black hole answered")
			}
		}
		if took := time.Since(start); took != timeout {
			t.Errorf("100 calls took %v, want %v", took, timeout)
		}
		synctest.Wait() // for what was left behind
		if got, want := b.Stats(), (breaker.Stats{Opened: 1, Refused: 99}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestBlackHoleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		b.backend.does(hangs)
		start := time.Now()
		if timeouts, others := b.together(100), b.together(100); timeouts != 100 || others != 0 {
			t.Errorf("%d time-outs, then %d, want 100 of those who asked at first", timeouts, others)
		}
		if took := time.Since(start); took != timeout {
			t.Errorf("200 calls took %v, want %v", took, timeout)
		}
		synctest.Wait() // for what was left behind
		if got, want := b.Stats(), (breaker.Stats{Opened: 1, Refused: 100}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if said := b.seen.said(); len(said) != 1 {
			t.Errorf("said %q, want one change", said)
		}
	})
}

// together makes n calls at once, and returns how many of them timed out. All others
// must be refused.
func (b *bench) together(n int) int {
	var timeouts, others atomic.Int64
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			switch _, err := b.take(b.Context()); {
			case errors.Is(err, breaker.ErrTimeout):
				timeouts.Add(1)
			case !errors.Is(err, breaker.ErrOpen):
				others.Add(1)
			}
		})
	}
	wg.Wait()
	if others.Load() > 0 {
		b.Errorf("%d calls neither timed out nor were refused", others.Load())
	}
	return int(timeouts.Load())
}

// Half-open, one call is let through, and the others are refused at once.
func TestOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		b.open()
		for range 3 {
			time.Sleep(openFor + ms)
			calls := b.backend.calls.Load()
			start := time.Now()
			if timeouts := b.together(100); timeouts != 1 || b.backend.calls.Load() != calls+1 {
				t.Errorf("%d time-outs, %d calls of the store, want 1 and 1", timeouts, b.backend.calls.Load()-calls)
			}
			if took := time.Since(start); took != timeout {
				t.Errorf("100 calls took %v, want %v", took, timeout)
			}
		}
		time.Sleep(openFor + ms)
		b.backend.does(slow(10 * ms))
		go b.take(t.Context())
		synctest.Wait()
		b.in(breaker.HalfOpen)
		if said := b.seen.said(); said[len(said)-1] != "open to half-open" {
			t.Errorf("said %q while the probe is on its way, want that it is", said)
		}
		_, err := b.take(t.Context())
		b.is(err, breaker.ErrOpen)
		time.Sleep(10 * ms)
		synctest.Wait()
		b.in(breaker.Closed)
		b.backend.does(up)
		used, err := b.take(t.Context())
		b.is(err, nil)
		if used != 2 {
			t.Errorf("%d used, want the probe's and this one's", used)
		}
	})
}

// What a call left behind came to says nothing about the store as it is now.
func TestLateSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		b.backend.does(slow(300 * ms))
		_, err := b.take(t.Context())
		b.is(err, breaker.ErrTimeout)
		if got := b.Stats().Behind; got != 1 {
			t.Errorf("%d behind, want 1", got)
		}
		time.Sleep(200 * ms)
		synctest.Wait()
		b.in(breaker.Open)
		if got, used := b.Stats().Behind, b.used(); got != 0 || used != 1 {
			t.Errorf("%d behind, %d used, want 0 and 1: it ended, and charged", got, used)
		}
	})
}

// caller is an observer that calls the store, and asks for the breaker's state.
type caller struct {
	recorder
	b *bench
}

func (c *caller) Reported(ctx context.Context, r ratelimit.Report) {
	c.recorder.Reported(ctx, r)
	if _, err := c.b.take(ctx); err != nil && !errors.Is(err, breaker.ErrOpen) {
		c.b.Errorf("%s: %v", r.Detail, err)
	}
	c.b.Stats()
}

// An observer may call the store that tells it.
func TestObserverThatCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c caller
		c.b = newBench(t, breaker.Config{Failures: 1, Observer: &c})
		c.b.backend.does(down)
		c.b.take(t.Context())
		time.Sleep(openFor + ms)
		c.b.backend.does(up)
		c.b.take(t.Context())
		if got := len(c.said()); got != 3 {
			t.Errorf("%d changes, want 3", got)
		}
		if used := c.b.used(); used != 2 {
			t.Errorf("%d used, want 2: the probe's, and the observer's when it had closed", used)
		}
	})
}

// waiter is an observer that waits, once the breaker has opened, and probes the store.
type waiter struct{ caller }

func (w *waiter) Reported(ctx context.Context, r ratelimit.Report) {
	w.recorder.Reported(ctx, r)
	if r.Detail == "closed to open" {
		time.Sleep(openFor + ms)
		w.b.backend.does(up)
		_, err := w.b.take(ctx)
		w.b.is(err, nil)
	}
}

// Changes that an observer brings about are told once it has returned, in order.
func TestObserverThatProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w waiter
		w.b = newBench(t, breaker.Config{Failures: 1, Observer: &w})
		w.b.backend.does(down)
		w.b.take(t.Context())
		want := []string{"closed to open: connection refused", "open to half-open", "half-open to closed"}
		if diff := cmp.Diff(want, w.said()); diff != "" {
			t.Errorf("reports (-want +got):\n%s", diff)
		}
	})
}

// angry is an observer that panics the first time.
type angry struct {
	recorder
	times int
}

func (a *angry) Reported(ctx context.Context, r ratelimit.Report) {
	a.recorder.Reported(ctx, r)
	if a.times++; a.times == 1 {
		panic("angry")
	}
}

// An observer that panics once is told of the next change.
func TestObserverThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a angry
		b := newBench(t, breaker.Config{Failures: 1, Observer: &a})
		b.backend.does(down)
		func() {
			defer func() {
				if recover() != "angry" {
					t.Error("want the observer's panic")
				}
			}()
			b.take(t.Context())
		}()
		time.Sleep(openFor + ms)
		b.backend.does(up)
		_, err := b.take(t.Context())
		b.is(err, nil)
		if got := len(a.said()); got != 3 {
			t.Errorf("%d changes, want 3", got)
		}
	})
}
