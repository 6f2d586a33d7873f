package stacktest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
)

// tally is the observer that counts what callers are told.
type tally struct {
	t *testing.T

	mu       sync.Mutex
	of       map[string]outcomes // by policy and key
	lost     int64               // Takes that failed though they may have charged
	causes   map[string]int64    // why decisions and corrections failed
	recovery []time.Duration
}

type outcomes map[ratelimit.Outcome]int64

func newTally(t *testing.T) *tally {
	return &tally{t: t, of: map[string]outcomes{}, causes: map[string]int64{}}
}

// Decided implements ratelimit.Observer.
func (y *tally) Decided(_ context.Context, key []byte, d ratelimit.Decision) {
	if d.Cost == 0 {
		return // the test looks
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	name := d.Policy + " " + string(key)
	if y.of[name] == nil {
		y.of[name] = outcomes{}
	}
	y.of[name][d.Outcome]++
}

// Reported implements ratelimit.Observer.
func (y *tally) Reported(_ context.Context, r ratelimit.Report) {
	y.mu.Lock()
	defer y.mu.Unlock()
	switch r.Kind {
	case ratelimit.ReportStoreError, ratelimit.ReportAdjustError:
		y.causes[r.Err.Error()]++
		if !errors.Is(r.Err, breaker.ErrOpen) && !errors.Is(r.Err, syscall.ECONNREFUSED) && !redis.IsClusterDownError(r.Err) {
			y.lost++
		}
	default:
		y.t.Errorf("reported: %+v", r)
	}
}

// admitted returns how many the server admitted under a name, of a policy and a key.
func (y *tally) admitted(name string) int64 {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.of[name][ratelimit.Allowed]
}

// calls returns how many decisions there were.
func (y *tally) calls() (n int64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, o := range y.of {
		for _, times := range o {
			n += times
		}
	}
	return n
}

// mayHaveCharged returns how many Takes failed of which that is not known.
func (y *tally) mayHaveCharged() int64 {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.lost
}

// failures returns how many decisions and corrections failed.
func (y *tally) failures() (n int64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, times := range y.causes {
		n += times
	}
	return n
}

func (y *tally) recovered(took time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.recovery = append(y.recovery, took.Round(time.Millisecond))
}

// log sums up.
func (y *tally) log() {
	calls, sum := y.calls(), outcomes{}
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, o := range y.of {
		for outcome, n := range o {
			sum[outcome] += n
		}
	}
	y.t.Logf("%d calls: %d admitted, %d denied, %d unavailable; %d may have charged unseen; recovery %v", calls,
		sum[ratelimit.Allowed], sum[ratelimit.Denied], sum[ratelimit.Unavailable], y.lost, y.recovery)
	for _, cause := range slices.Sorted(maps.Keys(y.causes)) {
		y.t.Logf("%6d times %s", y.causes[cause], cause)
	}
}
