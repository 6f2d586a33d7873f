package breaker_test

import (
	"errors"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

func TestMistakesAreReportedTogether(t *testing.T) {
	s, err := breaker.New(nil, breaker.Config{Timeout: -1, OpenFor: -ms, Failures: -2})
	want := []string{
		"ratelimit: Store is nil: a breaker needs one to call",
		"ratelimit: Timeout must not be negative, is -1ns",
		"ratelimit: OpenFor must not be negative, is -1ms",
		"ratelimit: Failures must not be negative, is -2",
	}
	if s != nil || err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("%v, %v, want %q", s, err, want)
	}
	var e *ratelimit.ConfigError
	if !errors.As(err, &e) {
		t.Errorf("%T, want a *ratelimit.ConfigError in it", err)
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
