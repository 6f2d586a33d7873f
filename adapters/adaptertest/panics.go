package adaptertest

import (
	"runtime/debug"
	"strings"
	"testing"
)

// Panics checks that every build panics, as constructors do on a mistake that is
// seen when an app starts.
func Panics(t *testing.T, builds map[string]func()) {
	t.Helper()
	for name, build := range builds {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}

// PassesPanic checks that a handler's panic passes the middleware untouched, for who
// recovers it to see where it came from. serve has an app answer a request on this
// goroutine, by a handler that calls explode.
func PassesPanic(t *testing.T, serve func(explode func())) {
	t.Helper()
	defer func() {
		if v := recover(); v != "boom" {
			t.Errorf("recovered %v, want boom", v)
		}
		if stack := string(debug.Stack()); !strings.Contains(stack, "adaptertest.explode(") {
			t.Errorf("the panicking function is not on the stack:\n%s", stack)
		} else if n := strings.Count(stack, "\npanic("); n != 1 {
			t.Errorf("it panics %d times on the stack, want once:\n%s", n, stack)
		}
	}()
	serve(explode)
}

func explode() { panic("boom") }
