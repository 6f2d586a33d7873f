package ratelimit_test

import (
	"fmt"
	"slices"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

func TestNoKey(t *testing.T) {
	nobody := request(limittest.Request{})
	with := func(mode ratelimit.NoKey) ratelimit.Policy {
		p := pol("api", ratelimit.PerHour(2))
		p.NoKey = mode
		return p
	}

	t.Run("shared", func(t *testing.T) {
		b := newBench(with(ratelimit.NoKeyShared))
		for i, step := range []struct {
			view ratelimit.View
			want string
		}{
			{nobody, "allowed 0, 1 left"},
			{nobody, "allowed 0, 0 left"},
			{nobody, "denied 429, 0 left"},
			// Keys that could be mistaken for the shared bucket's.
			{get(""), "allowed 0, 1 left"},
			{get("!"), "allowed 0, 1 left"},
			{get("=!"), "allowed 0, 1 left"},
			{get("=" + "#"), "allowed 0, 1 left"},
			{nobody, "denied 429, 0 left"},
		} {
			if got := b.begin(step.view); got != step.want {
				t.Errorf("%d: %s, want %s", i, got, step.want)
			}
		}
		if got := b.said.decided[0]; got != `api "!" allowed` {
			t.Errorf("observed %s", got)
		}
	})
	t.Run("skip", func(t *testing.T) {
		b := newBench(with(ratelimit.NoKeySkip), over(pol("all", ratelimit.PerHour(9)), ratelimit.Reject()))
		if got := b.begin(nobody); got != "allowed 0, 8 left" {
			t.Errorf("%s, want only the second policy's", got)
		}
		b = newBench(with(ratelimit.NoKeySkip))
		for range 5 {
			if got := b.begin(nobody); got != "skipped 0, 0 left" {
				t.Errorf("%s, want skipped", got)
			}
		}
	})
	t.Run("deny", func(t *testing.T) {
		all := pol("all", ratelimit.PerHour(9))
		all.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "all"...), nil }
		b := newBench(all, with(ratelimit.NoKeyDeny))
		ticket := b.Begin(nobody)
		defer ticket.End(429, nil)
		if ticket.Outcome() != ratelimit.Denied || ticket.Status() != 429 || ticket.Decision().Policy != "api" || ticket.Decision().RetryAfter != ratelimit.Never {
			t.Errorf("%v %d, %+v; want denied by api, for ever", ticket.Outcome(), ticket.Status(), ticket.Decision())
		}
		if got := headers(ticket); !slices.Equal(got, []string{"Cache-Control: no-store"}) {
			t.Errorf("headers %q: no wait helps, and no budget was looked at", got)
		}
		if got := b.left(t, "all", all); got[0] != 9 {
			t.Errorf("the other policy was charged: %d left", got[0])
		}
	})
}

// ErrNoKey counts however it is wrapped.
func TestNoKeyWrapped(t *testing.T) {
	p := pol("api", ratelimit.PerHour(2))
	p.Key = func(dst []byte, _ ratelimit.Request) ([]byte, error) {
		return append(dst, "leftovers"...), fmt.Errorf("no tenant: %w", ratelimit.ErrNoKey)
	}
	store := new(seen)
	b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{p}})
	b.Begin(get("")).End(200, nil)
	if !slices.Equal(store.keys, []string{"!"}) || len(b.said.take()) != 0 {
		t.Errorf("keys %q, want the shared one, and nothing to report", store.keys)
	}
}

// Who is denied for want of a key is observed as one without a key.
func TestNoKeyDenyIsObserved(t *testing.T) {
	p := pol("api", ratelimit.PerHour(2))
	p.NoKey = ratelimit.NoKeyDeny
	b := newBench(p)
	b.Begin(request(limittest.Request{})).End(429, nil)
	if want := []string{`api "!" denied`}; !slices.Equal(b.said.decided, want) {
		t.Errorf("observed %q, want %q", b.said.decided, want)
	}
}

// A shadow never denies, not even those without a key.
func TestNoKeyDenyOfAShadow(t *testing.T) {
	p := over(pol("trial", ratelimit.PerHour(2)), ratelimit.Shadow())
	p.NoKey = ratelimit.NoKeyDeny
	b := newBench(p)
	ticket := b.Begin(request(limittest.Request{}))
	defer ticket.End(200, nil)
	if ticket.Status() != 0 {
		t.Errorf("%v, %d; want the request to go on", ticket.Outcome(), ticket.Status())
	}
}
