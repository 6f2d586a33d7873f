package breaker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

func TestMistakesAreReportedTogether(t *testing.T) {
	s, err := breaker.New(nil, breaker.Config{Timeout: -1, OpenFor: -ms, Failures: -2, Timeouts: -3})
	want := []string{
		"ratelimit: Store is nil: a breaker needs one to call",
		"ratelimit: Timeout must not be negative, is -1ns",
		"ratelimit: OpenFor must not be negative, is -1ms",
		"ratelimit: Failures must not be negative, is -2",
		"ratelimit: Timeouts must not be negative, is -3",
	}
	if s != nil || err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("%v, %v, want %q", s, err, want)
	}
	var e *ratelimit.ConfigError
	if !errors.As(err, &e) {
		t.Errorf("%T, want a *ratelimit.ConfigError in it", err)
	}
}

// Fewer failures than time-outs would open the breaker first.
func TestTimeoutsAreFailures(t *testing.T) {
	for _, test := range []struct {
		config breaker.Config
		want   string
	}{
		{breaker.Config{Failures: 1}, ""},
		{breaker.Config{Timeouts: 5}, ""},
		{breaker.Config{Failures: 3, Timeouts: 3}, ""},
		{breaker.Config{Timeouts: 6}, "ratelimit: Timeouts must be at most Failures (5), since a time-out is a failure, is 6"},
		{breaker.Config{Failures: 2, Timeouts: 3}, "ratelimit: Timeouts must be at most Failures (2), since a time-out is a failure, is 3"},
	} {
		_, err := breaker.New(newBackend(), test.config)
		if got := fmt.Sprint(err); (err == nil) != (test.want == "") || err != nil && got != test.want {
			t.Errorf("%+v: %v, want %q", test.config, err, test.want)
		}
	}
}

func TestOpen(t *testing.T) {
	limit := ratelimit.PerHour(100)
	if err := new(breaker.Store).Open(ratelimit.NewSpace("api", limit)); err == nil {
		t.Error("the zero Store opened")
	}
	b := newBench(t, breaker.Config{Timeout: ms})
	if err := b.Open(ratelimit.NewSpace("bad", ratelimit.Limit{})); err == nil {
		t.Error("a space without a limit opened")
	}
	b.open()
	if err := b.Open(ratelimit.NewSpace("api", limit)); err != nil {
		t.Errorf("%v, want a space to open while the breaker is", err)
	}
}
