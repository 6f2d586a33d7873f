package redisstore

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// A client may retry what it got no answer to. The server has done it.
func TestLostReplyChargesOnce(t *testing.T) {
	for name, start := range rigs {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			s := storeOf(t, r.client, Config{Timeout: patience})
			impatient := storeOf(t, r.client, Config{Timeout: time.Second})
			p := policyOf(t, s, "p", ratelimit.PerHour(1000))
			policyOf(t, impatient, "p", ratelimit.PerHour(1000))
			proxy := r.proxy("k")
			used := func(want int64) {
				t.Helper()
				if got := p.used(t, s, "k"); got != want {
					t.Errorf("%d in use, want %d", got, want)
				}
			}
			one := func() error {
				return impatient.Take(t.Context(), []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}, make([]ratelimit.Result, 1))
			}
			take(t, s, p.charge("k", 1, ratelimit.Enforce))
			used(1)

			proxy.DropReplies(1, "evalsha")
			if one() == nil {
				t.Error("no error where the reply was lost")
			}
			used(2)
			proxy.CutReplies(1, 0, "evalsha")
			if one() == nil {
				t.Error("no error where the connection was cut before the reply")
			}
			used(3)
			proxy.CutReplies(1, 20, "evalsha")
			if one() == nil {
				t.Error("no error where the connection was cut within the reply")
			}
			used(4)
		})
	}
}

// Nor is a correction made twice.
func TestLostReplyAdjustsOnce(t *testing.T) {
	r := rigs["single"](t)
	s := storeOf(t, r.client, Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	take(t, s, p.charge("k", 1, ratelimit.Enforce))
	extra := ratelimit.Adjustment{Op: ratelimit.Extra, Space: p.space, Key: []byte("k"), Limit: p.limit, Units: 1}
	if err := s.Adjust(t.Context(), []ratelimit.Adjustment{extra}); err != nil {
		t.Fatal(err)
	}
	r.proxy("k").CutReplies(1, 0, "evalsha")
	if err := s.Adjust(t.Context(), []ratelimit.Adjustment{extra}); err == nil {
		t.Error("no error where the reply was lost")
	}
	if got := p.used(t, s, "k"); got != 3 {
		t.Errorf("%d in use, want the charge and each extra once, 3", got)
	}
}

// Where a pipeline is cut, some of its calls have their reply and the others do not.
// None is sent again.
func TestCutPipelineChargesOnce(t *testing.T) {
	for name, start := range rigs {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			s := storeOf(t, r.client, Config{Timeout: patience})
			p := policyOf(t, s, "p", ratelimit.PerHour(1_000_000))
			take(t, s, p.charge("k", 1, ratelimit.Enforce))

			proxy := r.proxy("k")
			before := proxy.Requests("evalsha", "eval")
			proxy.Delay(0, 20*time.Millisecond) // so that callers share pipelines
			proxy.CutReplies(40, 30, "evalsha")
			const callers, each = 50, 10
			var ok atomic.Int64
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for range each {
						if s.Take(t.Context(), []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}, make([]ratelimit.Result, 1)) == nil {
							ok.Add(1)
						}
					}
				})
			}
			wg.Wait()
			if sent := proxy.Requests("evalsha", "eval") - before; sent > callers*each {
				t.Errorf("sent %d times, for %d calls", sent, callers*each)
			}
			proxy.Pass()
			if used := p.used(t, s, "k") - 1; used < ok.Load() || used > callers*each || ok.Load() == callers*each {
				t.Errorf("%d in use, with %d calls of which %d had a reply", used, callers*each, ok.Load())
			}
		})
	}
}
