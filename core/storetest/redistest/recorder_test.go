package redistest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder is a test of its own, which may fail or be skipped without the one that
// looks at it.
type recorder struct {
	testing.TB
	mu              sync.Mutex
	failed, skipped bool
	logs            []string
	cleanups        []func()
}

// run runs a test and its cleanups.
func (r *recorder) run(test func()) {
	var done sync.WaitGroup
	done.Go(test)
	done.Wait()
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func (r *recorder) text() string { return strings.Join(r.logs, "\n") }

func (r *recorder) Helper() {}

func (r *recorder) Failed() bool { return r.failed }

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) { r.failed = true; r.Logf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = true
	r.Logf(format, args...)
	runtime.Goexit()
}
