package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weirhq/ratelimit/core/breaker"
)

// takeWithin charges one unit with a deadline of the caller's own, which must be what
// ends the call.
func (b *bench) takeWithin(d time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	start := time.Now()
	_, err := b.take(ctx)
	b.is(err, context.DeadlineExceeded)
	if took := time.Since(start); took != d || errors.Is(err, breaker.ErrTimeout) {
		b.Errorf("%v after %v, want the caller's deadline after %v", err, took, d)
	}
}

// The caller's own deadline is kept. Several that pass in a row open the breaker, if
// the store had a tenth of the time-out: shorter ones say nothing about it.
func TestCallersDeadline(t *testing.T) {
	deaf := slow(timeout)
	failing := func(ctx context.Context) error {
		<-ctx.Done()
		return errDown // as a connection does whose deadline is the context's
	}
	for name, store := range map[string]func(context.Context) error{"a store that hangs": hangs, "that is deaf": deaf, "that fails": failing} {
		for deadline, opens := range map[time.Duration]bool{
			20 * ms: true, timeout / 10: true, timeout - 1: true, timeout/10 - 1: false, 1: false,
		} {
			t.Run(fmt.Sprint(name, ", ", deadline), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, breaker.Config{Failures: 5, Timeouts: 1})
					b.backend.does(store)
					for range 5 {
						b.in(breaker.Closed)
						b.takeWithin(deadline)
					}
					want := breaker.Stats{}
					if opens {
						_, err := b.take(t.Context())
						b.is(err, breaker.ErrOpen)
						want = breaker.Stats{Opened: 1, Refused: 1}
					} else {
						b.in(breaker.Closed)
					}
					time.Sleep(time.Second) // for what was left behind
					synctest.Wait()
					if got := b.Stats(); got != want {
						t.Errorf("%+v, want %+v", got, want)
					}
				})
			})
		}
	}
}

// A success ends the row, and a deadline that is too short does not.
func TestCallersDeadlinesInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{Failures: 2})
		b.backend.does(hangs)
		b.takeWithin(20 * ms)
		b.backend.does(up)
		_, err := b.take(t.Context())
		b.is(err, nil)
		b.backend.does(hangs)
		b.takeWithin(20 * ms)
		b.takeWithin(ms)
		b.in(breaker.Closed)
		b.takeWithin(20 * ms)
		b.in(breaker.Open)
		want := []string{"closed to open: ratelimit: the caller's deadline passed before the store answered"}
		if diff := cmp.Diff(want, b.seen.said()); diff != "" {
			t.Errorf("reports (-want +got):\n%s", diff)
		}
	})
}

// A probe whose caller's deadline passes fails, unless that was too short: then the next
// caller probes.
func TestCallersDeadlineOfAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		b.open()
		time.Sleep(openFor + ms)
		for range 3 {
			b.takeWithin(ms)
			b.in(breaker.HalfOpen)
		}
		b.takeWithin(30 * ms)
		b.in(breaker.Open)
		time.Sleep(openFor + ms)
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
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		for _, timeout := range []time.Duration{time.Nanosecond, timeout} {
			b := newBench(t, breaker.Config{Timeout: timeout, Failures: 1})
			_, err := b.take(ctx)
			b.is(err, context.DeadlineExceeded)
			b.in(breaker.Closed)
			synctest.Wait()
			if calls := b.backend.calls.Load(); calls != 0 {
				t.Errorf("%d calls, want none", calls)
			}
		}
		b := newBench(t, breaker.Config{})
		b.backend.does(hangs)
		ctx, cancel = context.WithTimeout(t.Context(), timeout+ms)
		defer cancel()
		_, err := b.take(ctx)
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
