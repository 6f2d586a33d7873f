package approx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/limittest"
)

func TestNewRefuses(t *testing.T) {
	_, err := approx.New(nil, approx.Config{Every: -1, Timeout: time.Hour, MaxKeys: -1})
	const want = `ratelimit: Store is nil: there is nobody to exchange with
ratelimit: Every must be 1ms to 1m0s, is -1ns
ratelimit: Timeout must be 1ms to 1m0s, is 1h0m0s
ratelimit: MaxKeys must not be negative, is -1`
	if err == nil || err.Error() != want {
		t.Errorf("want\n%s\ngot\n%v", want, err)
	}
	var bad *ratelimit.ConfigError
	if !errors.As(err, &bad) {
		t.Errorf("want a *ConfigError, got %T", err)
	}
	for _, d := range []time.Duration{time.Millisecond, time.Minute} {
		if _, err := approx.New(limittest.Allow(), approx.Config{Every: d, Timeout: d, MaxKeys: 1}); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// Open refuses what a copy cannot promise, and then nothing is opened in the shared
// store either.
func TestOpenRefuses(t *testing.T) {
	log := ratelimit.PerMinute(10).Using(ratelimit.SlidingLog)
	for _, c := range []struct {
		space *ratelimit.Space
		field string
	}{
		{ratelimit.NewSpace("log", log), "Limit.Algorithm"},
		{ratelimit.NewLeaseSpace("lease", log), "Limit"},
		{ratelimit.NewPenaltySpace("bans", ratelimit.Penalty{Denials: 2, Within: time.Minute, Ban: time.Hour}), "Penalty"},
		{ratelimit.NewSpace("short", ratelimit.Per(10, 99*time.Millisecond)), "Limit.Window"},
		{ratelimit.NewSpace("none", ratelimit.PerMinute(0)), "Limit.Quota"},
	} {
		memory := ratelimit.NewMemory(ratelimit.MemoryConfig{})
		s, err := approx.New(memory, approx.Config{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Open(c.space)
		var bad *ratelimit.ConfigError
		if !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%s: want a *ConfigError of %s, got %v", c.space.Policy, c.field, err)
		}
		reset := []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: c.space, Key: []byte("k")}}
		if err := memory.Adjust(t.Context(), reset); !errors.Is(err, ratelimit.ErrMisuse) {
			t.Errorf("%s: it was opened in the shared store", c.space.Policy)
		}
	}
}

type unopenable struct{ ratelimit.Store }

func (unopenable) Open(*ratelimit.Space) error { return errors.New("too small") }

func TestOpenFails(t *testing.T) {
	s, err := approx.New(unopenable{limittest.Allow()}, approx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(ratelimit.NewSpace("api", ratelimit.PerMinute(1))); err == nil || err.Error() != "too small" {
		t.Errorf("want the shared store's error, got %v", err)
	}
}

// All modes are decided on the copy, and what was charged in fact is what is sent.
func TestModes(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		spill := ann.charge("credits", 0)
		spill.Mode = ratelimit.Spill
		shadow, meter := ann.charge("shadow", 11), ann.charge("meter", 12)
		shadow.Mode, meter.Mode = ratelimit.Observe, ratelimit.Force
		results := make([]ratelimit.Result, 4)
		charges := []ratelimit.Charge{ann.charge("k", 14), spill, shadow, meter}
		if err := ann.Take(ann.Context(), charges, results); err != nil {
			t.Fatal(err)
		}
		ann.flush()
		for key, want := range map[string]int64{"k": 10, "credits": 4, "shadow": 0, "meter": 12} {
			ann.used(key, want)
			ann.shared(way, key, want)
		}

		if err := ann.Take(ann.Context(), charges, results); err != nil { // 14 where 6 are left
			t.Fatal(err)
		}
		if results[0].Allowed || results[1].Allowed {
			t.Error("want the spill denied")
		}
		ann.flush()
		for key, want := range map[string]int64{"k": 10, "credits": 4, "shadow": 0, "meter": 12} {
			ann.shared(way, key, want)
		}
	})
}

// A Take that is refused is noted nowhere.
func TestTakeRefuses(t *testing.T) {
	pair(t, ratelimit.PerMinute(10), func(_ *limittest.Clock, way *link, ann, _ *instance) {
		results := make([]ratelimit.Result, 2)
		stranger := ratelimit.Charge{Space: ratelimit.NewSpace("stranger", ann.limit), Limit: ann.limit, Cost: 1}
		for _, charges := range [][]ratelimit.Charge{
			{ann.charge("k", 1)},
			{ann.charge("k", 1), ann.charge("k", -1)},
			{ann.charge("k", 1), stranger},
		} {
			if err := ann.Take(ann.Context(), charges, results); !errors.Is(err, ratelimit.ErrMisuse) {
				t.Errorf("want an error that wraps ErrMisuse, got %v", err)
			}
		}
		ann.flush()
		if way.calls != 0 {
			t.Errorf("want no exchange, got %d", way.calls)
		}
		if err := ann.Take(ann.Context(), nil, nil); err != nil {
			t.Errorf("a Take of nothing: %v", err)
		}
	})
}

// Keys beyond MaxKeys are decided here alone, until there is room.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := ratelimit.NewMemory(ratelimit.MemoryConfig{})
		way := &link{Store: shared}
		ann := newInstance(t, way, ratelimit.PerHour(10), approx.Config{MaxKeys: 3})
		for n := range 5 {
			ann.take(strconv.Itoa(n), 2)
			ann.take(strconv.Itoa(n), 0)
		}
		if s := ann.Stats(); s.Tracked != 3 || s.Unshared != 2 {
			t.Errorf("want 3 keys tracked and 2 charges unshared, got %+v", s)
		}
		ann.flush()
		for n, want := range []int64{2, 2, 2, 0, 0} {
			ann.shared(way, strconv.Itoa(n), want)
		}
		ann.flush() // forgets the first three
		ann.take("4", 2)
		ann.flush()
		ann.shared(way, "4", 2)
	})
}

// observer keeps what it is told, and asks the store while it is told.
type observer struct {
	mu      sync.Mutex
	reports []ratelimit.Report
	ask     func()
}

func (o *observer) Decided(context.Context, []byte, ratelimit.Decision) {}

func (o *observer) Reported(_ context.Context, r ratelimit.Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reports = append(o.reports, r)
	o.ask()
}

func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{down: down}}
		o := new(observer)
		ann := newInstance(t, way, ratelimit.PerHour(10), approx.Config{MaxKeys: 2, Observer: o})
		o.ask = func() { ann.take("a", 0) }
		want := func(want ...ratelimit.Report) {
			t.Helper()
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			o.mu.Lock()
			defer o.mu.Unlock()
			if !slices.Equal(o.reports, want) {
				t.Errorf("want %+v, got %+v", want, o.reports)
			}
			o.reports = nil
		}
		receipt := ann.take("a", 1).Receipt
		want(ratelimit.Report{Kind: ratelimit.ReportStoreError, Err: down})
		way.set(func(l *link) { l.down = nil })
		want()

		ann.adjust(ratelimit.Refund, "a", 1, receipt)
		way.set(func(l *link) {
			l.onReceive = func() { // of the look before the refund
				way.set(func(l *link) { l.onReceive, l.lost = nil, down })
			}
		})
		want(ratelimit.Report{Kind: ratelimit.ReportStoreError, Err: down}, ratelimit.Report{Kind: ratelimit.ReportAdjustError, Err: down})
		way.set(func(l *link) { l.lost = nil })
		want()

		for _, key := range []string{"b", "c", "d"} {
			ann.take(key, 1)
		}
		want(ratelimit.Report{Kind: ratelimit.ReportEvicted, Policy: "api", N: 1}) // the first of a second
	})
}

// A limiter on it behaves as on any store.
func TestLimiter(t *testing.T) {
	var clock limittest.Clock
	s, err := approx.New(ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}), approx.Config{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	everyone := func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "everyone"...), nil }
	limits := ratelimit.Must(ratelimit.Config{Store: s, Policies: []ratelimit.Policy{
		{Name: "second", Limit: ratelimit.PerSecond(2), Key: everyone},
		{Name: "minute", Limit: ratelimit.PerMinute(3).Using(ratelimit.FixedWindow), Key: everyone},
	}})
	var got []string
	for range 4 {
		d, err := limits.Allow(t.Context(), "everyone", 1)
		got = append(got, fmt.Sprint(d.Allowed(), d.RetryAfter, err))
		clock.Advance(400 * time.Millisecond)
	}
	want := []string{"true 0s <nil>", "true 0s <nil>", "true 0s <nil>", "false 58.8s <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}
