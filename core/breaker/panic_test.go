package breaker_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/ratelimit/core/breaker"
)

var errBug = errors.New("a bug")

func bug(context.Context) error { panic(errBug) }

// A panic of the store arrives at its caller, and counts as a failure.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{Failures: 2})
		b.backend.does(bug)
		for range 2 {
			b.in(breaker.Closed)
			err := b.panics()
			b.is(err, errBug)
			if !strings.Contains(err.Error(), "panic_test.go") {
				t.Errorf("want the stack of the panic, got %v", err)
			}
		}
		b.in(breaker.Open)
		if said := b.seen.said(); len(said) != 1 || !strings.Contains(said[0], "closed to open: ratelimit: the store panicked: a bug") {
			t.Errorf("said %q, want that it opened", said)
		}
		time.Sleep(openFor + ms)
		b.is(b.panics(), errBug)
		b.in(breaker.Open)
		time.Sleep(openFor + ms)
		b.backend.does(up)
		_, err := b.take(t.Context())
		b.is(err, nil)
		b.in(breaker.Closed)
	})
}

// panics makes a call and returns the error that it panics with.
func (b *bench) panics() (err error) {
	b.Helper()
	defer func() {
		value := recover()
		var ok bool
		if err, ok = value.(error); !ok {
			b.Errorf("want a panic with an error, got %v", value)
		}
	}()
	b.take(b.Context())
	return nil
}

// One that no caller waits for is reported, and ends nothing.
func TestPanicLeftBehind(t *testing.T) {
	late := func(context.Context) error {
		time.Sleep(timeout + ms)
		panic("a late bug")
	}
	for _, adjusts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, breaker.Config{})
			b.run(adjusts, []step{{0, late, breaker.ErrTimeout, timeout, breaker.Open}})
			b.seen.said()
			time.Sleep(ms)
			synctest.Wait()
			want := "4 : ratelimit: the store panicked: a late bug\n"
			if adjusts {
				want = "5" + want[1:]
			}
			if said := b.seen.said(); len(said) != 1 || !strings.HasPrefix(said[0], want) {
				t.Errorf("said %q, want it to begin with %q", said, want)
			}
			if stats := b.Stats(); stats.Behind != 0 {
				t.Errorf("%+v, want nothing behind", stats)
			}
		})
	}
}

// A store that ends its goroutine, as a test that fails in it does, is a failure at once.
func TestGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, breaker.Config{Failures: 1})
		b.backend.does(func(context.Context) error { runtime.Goexit(); return nil })
		start := time.Now()
		if _, err := b.take(t.Context()); err == nil || time.Since(start) != 0 {
			t.Errorf("%v after %v, want an error at once", err, time.Since(start))
		}
		b.in(breaker.Open)
	})
}
