package approx_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
)

// daily gives nothing back while a test lasts.
var daily = ratelimit.PerDay(100).Using(ratelimit.FixedWindow)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Exchanges are made by themselves, one every 100 ms, as long as somebody asks. Then
// the goroutine ends: the bubble does not, while one waits.
func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{})}
		s, err := approx.New(way, approx.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ann := &instance{TB: t, Store: s, space: ratelimit.NewSpace("api", daily), limit: daily}
		if err := s.Open(ann.space); err != nil {
			t.Fatal(err)
		}
		for round := range int64(3) {
			for n := range int64(5) {
				time.Sleep(40 * time.Millisecond) // at 40, 80, 120; an exchange at 140; 160, 200; an exchange at 240
				ann.take("k", 1)
				if got, want := ann.Stats().Exchanges, n/3+round*2; got != want {
					t.Fatalf("round %d, after %d Takes: want %d exchanges, got %d", round, n+1, want, got)
				}
			}
			time.Sleep(time.Second)
			ann.shared(way, "k", 5*(round+1))
			if s := ann.Stats(); s.Tracked != 0 || s.Exchanges != 2*(round+1) {
				t.Fatalf("round %d: want no key tracked after %d exchanges, got %+v", round, 2*(round+1), s)
			}
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: time.Millisecond}}
		ann := newInstance(t, way, daily, approx.Config{})
		ann.take("k", 3)
		if err := ann.Close(); err != nil {
			t.Error(err)
		}
		ann.shared(way, "k", 3)

		// Decisions go on, and only Flush shares them.
		ann.take("k", 4)
		time.Sleep(time.Minute)
		ann.shared(way, "k", 3)
		ann.flush()
		ann.shared(way, "k", 7)
		if err := ann.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Close lets an exchange that is under way end, so that nothing is sent twice.
func TestCloseDuringAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: 300 * time.Millisecond}}
		ann := newInstance(t, way, daily, approx.Config{})
		ann.take("k", 3)
		time.Sleep(200 * time.Millisecond) // the exchange began at 100 ms
		ann.take("k", 4)
		if err := ann.Close(); err != nil {
			t.Error(err)
		}
		ann.shared(way, "k", 7)
	})
}

// Nor does Close leave the goroutine behind, whatever that is at.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{down: errors.New("down")}}
		o := &observer{ask: func() { time.Sleep(time.Second) }}
		ann := newInstance(t, way, daily, approx.Config{Observer: o})
		ann.take("k", 3)
		time.Sleep(200 * time.Millisecond) // the exchange at 100 ms failed, and is being told
		way.set(func(l *link) { l.down = nil })
		start := time.Now()
		if err := ann.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 900*time.Millisecond {
			t.Errorf("want Close to wait for 900ms, got %v", took)
		}
		ann.shared(way, "k", 3)
	})
}

// A shared store that does not answer holds up no decision, and an exchange with it
// ends after Timeout.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := errors.New("stuck")
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: time.Hour, down: stuck}}
		ann := newInstance(t, way, daily, approx.Config{Timeout: 2 * time.Second})
		ann.take("k", 3)
		time.Sleep(time.Second)
		start := time.Now()
		if r := ann.take("k", 4); !r.Allowed || r.Used != 7 || time.Since(start) != 0 {
			t.Errorf("want 7 used at once, got %d after %v", r.Used, time.Since(start))
		}
		time.Sleep(1200 * time.Millisecond) // the exchange began at 100 ms
		if s := ann.Stats(); s.Failures != 1 {
			t.Errorf("want one failed exchange, got %+v", s)
		}
		way.set(func(l *link) { l.oneWay, l.down = 0, nil })
		time.Sleep(3 * time.Second)
		ann.shared(way, "k", 7)
	})
}

// A Flush that has to wait for another exchange ends with its context.
func TestFlushWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := &link{Store: ratelimit.NewMemory(ratelimit.MemoryConfig{}), way: way{oneWay: 300 * time.Millisecond}}
		ann := newInstance(t, way, daily, approx.Config{})
		ann.take("k", 3)
		time.Sleep(200 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := ann.Flush(ctx); !errors.Is(err, ctx.Err()) || err == nil {
			t.Errorf("want the context's error, got %v", err)
		}
		time.Sleep(time.Second)
		ann.shared(way, "k", 3)
	})
}
