package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder is a testing.TB that remembers a failure instead of reporting it.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	failed bool
	text   string
}

func (r *recorder) Helper() {}

func (r *recorder) Log(...any) {}

func (r *recorder) Logf(string, ...any) {}

func (r *recorder) Failed() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.failed }

func (r *recorder) Fail() { r.fail("failed") }

func (r *recorder) FailNow() { r.fail("failed"); runtime.Goexit() }

func (r *recorder) Error(args ...any) { r.fail(fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) { r.fail(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatal(args ...any) { r.fail(fmt.Sprint(args...)); runtime.Goexit() }

func (r *recorder) Fatalf(format string, args ...any) {
	r.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *recorder) fail(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failed {
		r.failed, r.text = true, text
	}
}

// Failures runs the checks whose names start with any of starts on a store, and
// returns what the failed ones said.
func Failures(t *testing.T, h Harness, starts ...string) map[string]string {
	h.Steps = 6400 // a mistake shows early
	failures := map[string]string{}
	for _, c := range checks(h) {
		wanted := slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(c.group+"/"+c.name, start) })
		if !wanted || c.leftOut(h) != "" {
			continue
		}
		if text, failed := c.fails(t, h); failed {
			failures[c.group+"/"+c.name] = text
		}
	}
	return failures
}

// fails runs one check, which may end its goroutine.
func (c check) fails(t *testing.T, h Harness) (text string, failed bool) {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(r, h)
	}()
	<-done
	return r.text, r.failed
}
