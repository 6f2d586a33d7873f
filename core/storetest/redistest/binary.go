package redistest

import (
	"os"
	"os/exec"
	"testing"
)

// Require names the environment variable that makes a missing server fail a test
// which would be skipped otherwise. Any value but the empty one counts.
const Require = "RATELIMIT_REQUIRE_REDIS"

// Available reports whether PATH holds a server, so that tests with one run.
func Available() bool { return binary() != "" }

// binary returns the path of a server, or "".
func binary() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// need returns the path of a server, or ends the test.
func need(t testing.TB) string {
	t.Helper()
	path := binary()
	switch {
	case path != "":
	case os.Getenv(Require) != "":
		t.Fatalf("redistest: neither redis-server nor valkey-server is in PATH, and %s asks for one", Require)
	default:
		t.Skipf("redistest: neither redis-server nor valkey-server is in PATH; %s=1 makes this a failure", Require)
	}
	return path
}
