package breaker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/ratelimit/core/breaker"
)

type key struct{}

// The store's context has the caller's values and a deadline, not its cancellation.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		ctx, hangUp := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
		hangUp(errDown)
		var kept context.Context
		b.backend.does(func(ctx context.Context) error {
			kept = ctx
			end, ok := ctx.Deadline()
			if left := time.Until(end); !ok || left != timeout {
				t.Errorf("%v left, want %v", left, timeout)
			}
			if ctx.Value(key{}) != "value" || ctx.Value("other") != nil {
				t.Error("want the caller's values")
			}
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			if ctx.Err() != nil || context.Cause(ctx) != nil || child.Err() != nil {
				t.Errorf("%v, %v, child %v, want none of them ended", ctx.Err(), context.Cause(ctx), child.Err())
			}
			return nil
		})
		_, err := b.take(ctx)
		b.is(err, nil)
		select {
		case <-kept.Done():
			b.is(kept.Err(), context.Canceled)
		default:
			t.Error("want the context to end with the call")
		}
		var last context.Context
		b.backend.does(func(ctx context.Context) error { last = ctx; return nil })
		other := context.WithValue(t.Context(), key{}, "another caller's")
		_, err = b.take(other)
		b.is(err, nil)
		if kept.Value(key{}) != "value" {
			t.Error("a context that the store kept became another call's")
		}
		<-last.Done() // also where nobody asked before the end
		b.is(last.Err(), context.Canceled)
	})
}

// It ends when the caller leaves, and so do those that were made from it.
func TestContextOfACallLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{})
		var ends []error
		b.backend.does(func(ctx context.Context) error {
			child, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-child.Done()
			ends = append(ends, child.Err(), ctx.Err(), context.Cause(ctx))
			return child.Err()
		})
		ctx, hangUp := context.WithCancelCause(t.Context())
		hangUp(errDown) // which is not why it ends
		start := time.Now()
		_, err := b.take(ctx)
		b.is(err, breaker.ErrTimeout)
		synctest.Wait()
		if len(ends) != 3 || time.Since(start) != timeout {
			t.Fatalf("%v after %v, want it ended by the time-out", ends, time.Since(start))
		}
		for _, err := range ends {
			b.is(err, context.DeadlineExceeded)
		}
	})
}
