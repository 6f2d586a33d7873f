package breaker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weirhq/ratelimit/core/breaker"
)

// step is one call: at an instant since the start, of a store in some condition.
type step struct {
	at    time.Duration
	store func(context.Context) error
	want  error
	costs time.Duration // how long the caller is kept
	then  breaker.State
}

const ms = time.Millisecond

func TestTrace(t *testing.T) {
	const opens, closes, probes, fails = "closed to open: ", "half-open to closed", "open to half-open", "half-open to open: "
	const refused, late = "connection refused", "ratelimit: the store did not answer in time"
	for _, test := range []struct {
		name   string
		config breaker.Config
		steps  []step
		said   []string
	}{
		{"a store that is well", breaker.Config{}, []step{
			{0, up, nil, 0, breaker.Closed},
			{1 * ms, slow(99 * ms), nil, 99 * ms, breaker.Closed},
			{200 * ms, up, nil, 0, breaker.Closed},
		}, nil},
		{"a black hole that comes back", breaker.Config{}, []step{
			{0, up, nil, 0, breaker.Closed},
			{10 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Open},
			{110 * ms, hangs, breaker.ErrOpen, 0, breaker.Open},
			{610 * ms, hangs, breaker.ErrOpen, 0, breaker.Open},
			{611 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Open},
			{712 * ms, up, breaker.ErrOpen, 0, breaker.Open},
			{1212 * ms, up, nil, 0, breaker.Closed},
			{1213 * ms, up, nil, 0, breaker.Closed},
		}, []string{opens + late, probes, fails + late, probes, closes}},
		{"five failures in a row", breaker.Config{}, []step{
			{0, down, errDown, 0, breaker.Closed},
			{1 * ms, down, errDown, 0, breaker.Closed},
			{2 * ms, down, errDown, 0, breaker.Closed},
			{3 * ms, down, errDown, 0, breaker.Closed},
			{4 * ms, down, errDown, 0, breaker.Open},
			{5 * ms, down, breaker.ErrOpen, 0, breaker.Open},
			{505 * ms, down, errDown, 0, breaker.Open}, // one is enough of a probe
			{506 * ms, up, breaker.ErrOpen, 0, breaker.Open},
			{1006 * ms, up, nil, 0, breaker.Closed},
			{1007 * ms, down, errDown, 0, breaker.Closed},
		}, []string{opens + refused, probes, fails + refused, probes, closes}},
		{"failures that are not in a row", breaker.Config{Failures: 2}, []step{
			{0, down, errDown, 0, breaker.Closed},
			{1 * ms, up, nil, 0, breaker.Closed},
			{2 * ms, down, errDown, 0, breaker.Closed},
			{3 * ms, misused, errMisuse, 0, breaker.Closed},
			{4 * ms, down, errDown, 0, breaker.Open},
		}, []string{opens + refused}},
		{"misuse", breaker.Config{Failures: 1}, []step{
			{0, misused, errMisuse, 0, breaker.Closed},
			{1 * ms, misused, errMisuse, 0, breaker.Closed},
			{2 * ms, down, errDown, 0, breaker.Open},
			{503 * ms, misused, errMisuse, 0, breaker.HalfOpen}, // it says nothing: another is let through
			{504 * ms, misused, errMisuse, 0, breaker.HalfOpen},
			{505 * ms, up, nil, 0, breaker.Closed},
		}, []string{opens + refused, probes, closes}},
		{"a time-out of the store's own", breaker.Config{}, []step{
			{0, func(context.Context) error { return context.DeadlineExceeded }, context.DeadlineExceeded, 0, breaker.Open},
		}, []string{opens + context.DeadlineExceeded.Error()}},
		{"time-outs, where three in a row are to open it", breaker.Config{Timeouts: 3}, []step{
			{0, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
			{100 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
			{200 * ms, up, nil, 0, breaker.Closed},
			{201 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
			{301 * ms, misused, errMisuse, 0, breaker.Closed},
			{302 * ms, down, errDown, 0, breaker.Closed}, // it does not end the row
			{303 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
			{403 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Open},
			{1004 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Open}, // one is enough of a probe
			{1605 * ms, up, nil, 0, breaker.Closed},
			{1606 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
			{1706 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
		}, []string{opens + late, probes, fails + late, probes, closes}},
		{"time-outs among failures", breaker.Config{Failures: 3, Timeouts: 2}, []step{
			{0, down, errDown, 0, breaker.Closed},
			{1 * ms, hangs, breaker.ErrTimeout, 100 * ms, breaker.Closed},
			{101 * ms, down, errDown, 0, breaker.Open},
		}, []string{opens + refused}},
		{"a configuration of one's own", breaker.Config{Timeout: 20 * ms, OpenFor: 50 * ms, Failures: 1}, []step{
			{0, slow(19 * ms), nil, 19 * ms, breaker.Closed},
			{20 * ms, hangs, breaker.ErrTimeout, 20 * ms, breaker.Open},
			{90 * ms, up, breaker.ErrOpen, 0, breaker.Open},
			{91 * ms, down, errDown, 0, breaker.Open},
			{142 * ms, up, nil, 0, breaker.Closed},
			{143 * ms, down, errDown, 0, breaker.Open},
		}, []string{opens + late, probes, fails + refused, probes, closes, opens + refused}},
	} {
		for _, adjusts := range []bool{false, true} {
			t.Run(test.name+map[bool]string{false: ", Take", true: ", Adjust"}[adjusts], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, test.config)
					b.run(adjusts, test.steps)
					if diff := cmp.Diff(test.said, b.seen.said()); diff != "" {
						t.Errorf("reports (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// run makes the calls of a trace, in a bubble.
func (b *bench) run(adjusts bool, steps []step) {
	b.Helper()
	start := time.Now()
	for i, s := range steps {
		time.Sleep(s.at - time.Since(start))
		b.backend.does(s.store)
		before := time.Now()
		var err error
		if adjusts {
			err = b.Adjust(b.Context(), nil)
		} else {
			_, err = b.take(b.Context())
		}
		if costs := time.Since(before); costs != s.costs || b.State() != s.then {
			b.Errorf("step %d, %v: %v after %v, %v; want %v after %v, %v", i, s.at, err, costs, b.State(), s.want, s.costs, s.then)
		}
		b.is(err, s.want)
	}
}
