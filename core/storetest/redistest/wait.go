package redistest

import (
	"testing"
	"time"
)

const (
	patience = 30 * time.Second      // for servers to reach a state, on a slow and busy machine
	interval = 10 * time.Millisecond // between two looks
)

// await calls reached until it returns nil. It ends the test when patience does.
func await(t testing.TB, what string, reached func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := reached()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("redistest: waited %v for %s: %v", patience, what, err)
		}
		time.Sleep(interval)
	}
}
