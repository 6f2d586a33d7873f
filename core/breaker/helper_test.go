package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

const (
	timeout = 100 * time.Millisecond // of a breaker, unless told otherwise
	openFor = 500 * time.Millisecond
)

var (
	errDown   = errors.New("connection refused")
	errMisuse = fmt.Errorf("%w: a negative cost", ratelimit.ErrMisuse)
)

// backend is a memory store that may be down: before it decides it does what it was
// last told, and fails with the error of that.
type backend struct {
	*ratelimit.Memory
	calls  atomic.Int64
	before atomic.Pointer[func(ctx context.Context) error]
}

func newBackend() *backend { return &backend{Memory: ratelimit.NewMemory(ratelimit.MemoryConfig{})} }

func (b *backend) does(f func(ctx context.Context) error) { b.before.Store(&f) }

func (b *backend) prepare(ctx context.Context) error {
	b.calls.Add(1)
	if f := b.before.Load(); f != nil {
		return (*f)(ctx)
	}
	return nil
}

func (b *backend) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	return b.Memory.Take(ctx, charges, results)
}

func (b *backend) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	return b.Memory.Adjust(ctx, adjustments)
}

func up(context.Context) error { return nil }

func down(context.Context) error { return errDown }

func misused(context.Context) error { return errMisuse }

// hangs is a black hole that minds its context.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// slow answers after d.
func slow(d time.Duration) func(context.Context) error {
	return func(context.Context) error {
		time.Sleep(d)
		return nil
	}
}

// recorder is an observer that notes what is reported, a line each.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) Decided(context.Context, []byte, ratelimit.Decision) {}

func (r *recorder) Reported(_ context.Context, report ratelimit.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := fmt.Sprintf("%d %s", report.Kind, report.Detail)
	if report.Kind == ratelimit.ReportBreaker {
		line = report.Detail
	}
	if report.Err != nil {
		line += ": " + report.Err.Error()
	}
	r.lines = append(r.lines, line)
}

// said returns what was reported since the last call.
func (r *recorder) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// bench is a breaker around a backend, and what it tells.
type bench struct {
	testing.TB
	*breaker.Store
	backend *backend
	seen    recorder
	space   *ratelimit.Space
	limit   ratelimit.Limit
}

func newBench(t testing.TB, config breaker.Config) *bench {
	t.Helper()
	b := &bench{TB: t, backend: newBackend(), limit: ratelimit.PerHour(1_000_000).Using(ratelimit.FixedWindow)}
	if config.Observer == nil {
		config.Observer = &b.seen
	}
	s, err := breaker.New(b.backend, config)
	if err != nil {
		t.Fatal(err)
	}
	b.Store = s
	b.space = ratelimit.NewSpace("api", b.limit)
	if err := s.Open(b.space); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) charge(cost int64) ratelimit.Charge {
	return ratelimit.Charge{Space: b.space, Key: []byte("ann"), Limit: b.limit, Cost: cost}
}

// take charges one unit, and returns what is used then.
func (b *bench) take(ctx context.Context) (used int64, err error) {
	results := make([]ratelimit.Result, 1)
	err = b.Take(ctx, []ratelimit.Charge{b.charge(1)}, results)
	return results[0].Used, err
}

// used returns what is used in the store behind the breaker.
func (b *bench) used() int64 {
	b.Helper()
	results := make([]ratelimit.Result, 1)
	if err := b.backend.Memory.Take(b.Context(), []ratelimit.Charge{b.charge(0)}, results); err != nil {
		b.Fatal(err)
	}
	return results[0].Used
}

// is fails the test unless the error is the one that is wanted; nil is none.
func (b *bench) is(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("got error %v, want %v", err, want)
	}
}

// in fails the test unless the breaker stands there.
func (b *bench) in(want breaker.State) {
	b.Helper()
	if got := b.State(); got != want {
		b.Fatalf("%v, want it %v", got, want)
	}
}

// open opens the breaker by a time-out, and leaves the backend hanging.
func (b *bench) open() {
	b.Helper()
	b.backend.does(hangs)
	_, err := b.take(b.Context())
	b.is(err, breaker.ErrTimeout)
	b.in(breaker.Open)
	b.seen.said()
}
