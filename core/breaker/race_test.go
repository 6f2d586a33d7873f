package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

// reader is a store that is late, and reads and writes all that it was given when its
// caller has long left. It tells whether that was as the caller had asked.
type reader struct {
	release chan struct{}
	ended   sync.WaitGroup
	wrong   atomic.Int64
}

func (*reader) Open(*ratelimit.Space) error { return nil }

func (r *reader) Take(_ context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	<-r.release
	defer r.ended.Done()
	for i, c := range charges {
		if want := fmt.Sprintf("key %d", c.Cost); string(c.Key) != want {
			r.wrong.Add(1)
		}
		results[i] = ratelimit.Result{Used: -1}
	}
	return nil
}

func (r *reader) Adjust(_ context.Context, adjustments []ratelimit.Adjustment) error {
	<-r.release
	defer r.ended.Done()
	for i := range adjustments {
		if want := fmt.Sprintf("key %d", adjustments[i].Units); string(adjustments[i].Key) != want {
			r.wrong.Add(1)
		}
		adjustments[i].Receipt.Units = -1
	}
	return nil
}

// A call left behind shares no memory with its caller, who uses its own again at once,
// nor with later calls. What it writes reaches nobody.
func TestCallsLeftBehindOwnTheirMemory(t *testing.T) {
	store := &reader{release: make(chan struct{})}
	b, err := breaker.New(store, breaker.Config{Timeout: ms, OpenFor: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	var space ratelimit.Space
	keys := make([]byte, 0, 100)
	charges, results := make([]ratelimit.Charge, 3), make([]ratelimit.Result, 3)
	adjustments := make([]ratelimit.Adjustment, 3)
	for n := range int64(20) {
		store.ended.Add(1)
		keys = keys[:0]
		for i := range charges {
			start, cost := len(keys), n*10+int64(i)
			keys = fmt.Appendf(keys, "key %d", cost)
			charges[i] = ratelimit.Charge{Space: &space, Key: keys[start:], Cost: cost}
			adjustments[i] = ratelimit.Adjustment{Space: &space, Key: keys[start:], Units: cost}
		}
		if n%2 == 0 {
			err = b.Take(t.Context(), charges, results)
		} else {
			err = b.Adjust(t.Context(), adjustments)
		}
		if !errors.Is(err, breaker.ErrTimeout) {
			t.Fatalf("call %d: %v, want a time-out", n, err)
		}
		clear(keys)
		clear(charges)
		clear(results)
		clear(adjustments)
		time.Sleep(time.Microsecond) // the breaker is open for a moment
	}
	if behind := b.Stats().Behind; behind != 20 {
		t.Errorf("%d behind, want 20", behind)
	}
	close(store.release)
	store.ended.Wait()
	if store.wrong.Load() > 0 {
		t.Errorf("%d keys were not as they had been asked for", store.wrong.Load())
	}
	for i := range results {
		if results[i] != (ratelimit.Result{}) || adjustments[i].Receipt != (ratelimit.Receipt{}) {
			t.Errorf("%+v, %+v: written by a call that was left behind", results[i], adjustments[i])
		}
	}
}

// Under a store that flaps, every call is answered by its own result or an error, and
// every charge that was told is there.
func TestFlapping(t *testing.T) {
	const timeout = 20 * ms
	b := newBench(t, breaker.Config{Timeout: timeout, OpenFor: ms, Failures: 3})
	b.backend.does(func(ctx context.Context) error {
		switch n := b.backend.calls.Load() % 200; {
		case n == 199:
			return hangs(ctx)
		case n == 150:
			time.Sleep(timeout + ms) // deaf
		case n == 100:
			time.Sleep(timeout) // whichever is first
		case n == 50:
			panic(errBug)
		case n%20 == 7, n > 190:
			return errDown
		case n%20 == 13:
			return errMisuse
		}
		return nil
	})
	var admitted, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			key, results := fmt.Appendf(nil, "key %d", i), make([]ratelimit.Result, 2)
			for range 300 {
				charges := []ratelimit.Charge{b.charge(1), b.charge(int64(1 + i))}
				charges[1].Key = key
				switch err := b.stressed(i, charges, results); {
				case err == nil:
					admitted.Add(1)
					if got := results[1].Receipt.Units; got != int64(1+i) {
						t.Errorf("%d units charged, want %d", got, 1+i)
					}
				case errors.Is(err, breaker.ErrOpen):
					refused.Add(1)
					time.Sleep(100 * time.Microsecond)
				}
				clear(charges)
				clear(results)
			}
		})
	}
	wg.Wait()
	for deadline := time.Now().Add(10 * time.Second); b.Stats().Behind > 0; time.Sleep(ms) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v, want nothing behind", b.Stats())
		}
	}
	stats := b.Stats()
	if used := b.used(); used < admitted.Load() || admitted.Load() == 0 {
		t.Errorf("%d used, %d told, want at least as many, and some", used, admitted.Load())
	}
	if stats.Refused != refused.Load() || stats.Opened == 0 {
		t.Errorf("%+v, want %d refused, and that it opened", stats, refused.Load())
	}
	b.chained(stats.Opened)
}

// chained fails the test unless what was said is a walk from closed through the states,
// which opened so many times.
func (b *bench) chained(opened int64) {
	b.Helper()
	state := "closed"
	for _, line := range b.seen.said() {
		change, _, _ := strings.Cut(line, ":")
		from, to, ok := strings.Cut(change, " to ")
		if !ok { // a panic that nobody waited for
			continue
		}
		if from != state {
			b.Fatalf("%q, want a change from %s", line, state)
		}
		if state = to; to == "open" {
			opened--
		}
	}
	if opened != 0 || state != b.State().String() {
		b.Errorf("%d openings were not told of, or the last change: %s, and it is %v", opened, state, b.State())
	}
}

// stressed makes a call as one client of many, some of whom hang up, have a deadline,
// or give back.
func (b *bench) stressed(i int, charges []ratelimit.Charge, results []ratelimit.Result) (err error) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	switch i % 4 {
	case 1:
		cancel()
	case 2:
		ctx, cancel = context.WithTimeout(ctx, 5*ms)
		defer cancel()
	}
	defer func() {
		if value := recover(); value != nil {
			err = value.(error)
			b.is(err, errBug)
		}
	}()
	if err := b.Take(ctx, charges, results); err != nil {
		return err
	}
	if i%4 != 3 {
		return nil
	}
	return b.Adjust(ctx, []ratelimit.Adjustment{{
		Op: ratelimit.Extra, Space: charges[1].Space, Key: charges[1].Key, Limit: charges[1].Limit, Units: 1,
	}})
}
