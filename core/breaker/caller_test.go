package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/ratelimit/core/breaker"
)

// The caller's own deadline is kept, and says nothing about the store.
func TestCallersDeadline(t *testing.T) {
	deaf := slow(80 * ms)
	failing := func(ctx context.Context) error {
		<-ctx.Done()
		return errDown // as a connection does whose deadline is the context's
	}
	for name, store := range map[string]func(context.Context) error{"a store that hangs": hangs, "that is deaf": deaf, "that fails": failing} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, breaker.Config{Failures: 1})
				b.backend.does(store)
				for range 10 {
					ctx, cancel := context.WithTimeout(t.Context(), 30*ms)
					start := time.Now()
					_, err := b.take(ctx)
					b.is(err, context.DeadlineExceeded)
					if took := time.Since(start); took != 30*ms || errors.Is(err, breaker.ErrTimeout) {
						t.Errorf("%v after %v, want the caller's deadline after 30ms", err, took)
					}
					cancel()
				}
				b.in(breaker.Closed)
				time.Sleep(time.Second)
				if stats := b.Stats(); stats != (breaker.Stats{}) {
					t.Errorf("%+v, want nothing", stats)
				}
			})
		})
	}
}

// A probe that ends with its caller's deadline leaves the next one to the next caller.
func TestCallersDeadlineOfAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		b.open()
		time.Sleep(openFor + ms)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 30*ms)
			_, err := b.take(ctx)
			b.is(err, context.DeadlineExceeded)
			b.in(breaker.HalfOpen)
			cancel()
		}
		b.backend.does(up)
		_, err := b.take(t.Context())
		b.is(err, nil)
		b.in(breaker.Closed)
	})
}

// A deadline that has passed makes no call; a longer one than the time-out changes
// nothing.
func TestCallersDeadlineAtItsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		_, err := b.take(ctx)
		b.is(err, context.DeadlineExceeded)
		synctest.Wait()
		if calls := b.backend.calls.Load(); calls != 0 {
			t.Errorf("%d calls, want none", calls)
		}
		b.backend.does(hangs)
		ctx, cancel = context.WithTimeout(t.Context(), timeout+ms)
		defer cancel()
		_, err = b.take(ctx)
		b.is(err, breaker.ErrTimeout)
		b.in(breaker.Open)
	})
}

// A client that hangs up does not lose the charge, and is no failure.
func TestHangUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{Failures: 1})
		b.backend.does(func(ctx context.Context) error {
			time.Sleep(20 * ms)
			return context.Cause(ctx)
		})
		for i := range 10 {
			ctx, hangUp := context.WithCancel(t.Context())
			if i == 0 {
				hangUp() // before it begins
			}
			time.AfterFunc(10*ms, hangUp)
			used, err := b.take(ctx)
			b.is(err, nil)
			if used != int64(i+1) || b.used() != used {
				t.Errorf("%d used, %d told, want %d", b.used(), used, i+1)
			}
		}
		b.in(breaker.Closed)
	})
}

// An error of the store that comes with the time-out is the time-out.
func TestErrorAtTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		broken := time.After(timeout) // as a connection is, just before the breaker's timer
		b.backend.does(func(context.Context) error {
			<-broken
			return errDown
		})
		_, err := b.take(t.Context())
		b.is(err, breaker.ErrTimeout)
		b.in(breaker.Open)
	})
}

// A breaker in a breaker: the outer's time-out, which is the inner's deadline, is a
// time-out still.
func TestNested(t *testing.T) {
	for _, inner := range []time.Duration{50 * ms, 200 * ms} {
		t.Run(fmt.Sprint(inner), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, breaker.Config{Timeout: inner})
				b.backend.does(hangs)
				outer, err := breaker.New(b.Store, breaker.Config{})
				if err != nil {
					t.Fatal(err)
				}
				if err := outer.Adjust(t.Context(), nil); !errors.Is(err, breaker.ErrTimeout) || outer.State() != breaker.Open {
					t.Errorf("%v, %v, want a time-out and it open", err, outer.State())
				}
			})
		})
	}
}
