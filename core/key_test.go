package ratelimit_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// seen is a store that admits everything and notes the keys.
type seen struct {
	limittest.Store
	mu   sync.Mutex
	keys []string
}

func (s *seen) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range charges {
		s.keys = append(s.keys, string(c.Key))
	}
	return s.Store.Take(ctx, charges, results)
}

func TestIf(t *testing.T) {
	writes := pol("writes", ratelimit.PerHour(2))
	writes.If = func(r ratelimit.Request) bool { return r.Method() == "POST" }
	b := newBench(pol("all", ratelimit.PerHour(5)), writes)
	post := request(limittest.Request{Method: "POST", Header: http.Header{"X-Key": {"ann"}}})
	for i, step := range []struct {
		view ratelimit.View
		want string
	}{
		{get("ann"), "allowed 0, 4 left"},
		{post, "allowed 0, 1 left"},
		{get("ann"), "allowed 0, 2 left"},
		{post, "allowed 0, 0 left"},
		{post, "denied 429, 0 left"},
		{get("ann"), "allowed 0, 0 left"}, // the denied one was not charged
		{get("ann"), "denied 429, 0 left"},
	} {
		if got := b.begin(step.view); got != step.want {
			t.Errorf("%d: %s, want %s", i, got, step.want)
		}
	}

	only := newBench(writes)
	ticket := only.Begin(get("ann"))
	defer ticket.End(200, nil)
	if ticket.Outcome() != ratelimit.Skipped || len(headers(ticket)) != 0 || only.said.decided != nil {
		t.Errorf("%v, %q, observed %q; want skipped and silent", ticket.Outcome(), headers(ticket), only.said.decided)
	}
}

func TestPreflight(t *testing.T) {
	preflight := limittest.Request{Method: "OPTIONS", Header: http.Header{
		"X-Key": {"ann"}, "Origin": {"https://example.com"}, "Access-Control-Request-Method": {"GET"},
	}}
	without := func(name string) limittest.Request {
		r := preflight
		r.Header = r.Header.Clone()
		r.Header.Del(name)
		return r
	}
	asGet := preflight
	asGet.Method = "GET"
	for _, c := range []struct {
		name string
		mode ratelimit.PreflightMode
		r    limittest.Request
		want ratelimit.Outcome
	}{
		{"preflight", ratelimit.PreflightSkip, preflight, ratelimit.Skipped},
		{"OPTIONS without Origin", ratelimit.PreflightSkip, without("Origin"), ratelimit.Allowed},
		{"OPTIONS without a method", ratelimit.PreflightSkip, without("Access-Control-Request-Method"), ratelimit.Allowed},
		{"GET with both", ratelimit.PreflightSkip, asGet, ratelimit.Allowed},
		{"preflight, limited", ratelimit.PreflightLimit, preflight, ratelimit.Allowed},
	} {
		b := configured(ratelimit.Config{Preflight: c.mode, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(1))}})
		ticket := b.Begin(c.r.View())
		if ticket.Outcome() != c.want {
			t.Errorf("%s: %v, want %v", c.name, ticket.Outcome(), c.want)
		}
		ticket.End(204, nil)
	}
}

// What a key function does with dst is its own affair: the key is what it returns.
func TestKeyFuncReturns(t *testing.T) {
	elsewhere := []byte("elsewhere")
	for name, c := range map[string]struct {
		key  func(dst []byte) []byte
		want string
	}{
		"appends":             {func(dst []byte) []byte { return append(dst, "ann"...) }, "=ann"},
		"ignores dst":         {func([]byte) []byte { return elsewhere }, "=elsewhere"},
		"nil":                 {func([]byte) []byte { return nil }, "="},
		"nothing":             {func(dst []byte) []byte { return dst }, "="},
		"appends and returns": {func(dst []byte) []byte { return append(dst, "a long one"...)[:1] }, "=a"},
		"a later part": {func(dst []byte) []byte {
			return append(dst, "xann"...)[1:]
		}, "=ann"},
		"outgrows dst": {func(dst []byte) []byte {
			return append(append(dst, strings.Repeat("x", 10_000)...)[:0], "ann"...)
		}, "=ann"},
		"any bytes": {func(dst []byte) []byte { return append(dst, "\x00:{}\n!#\xff"...) }, "=\x00:{}\n!#\xff"},
	} {
		store := new(seen)
		key := func(dst []byte, _ ratelimit.Request) ([]byte, error) { return c.key(dst), nil }
		first, second := pol("first", ratelimit.PerHour(5)), pol("second", ratelimit.PerHour(5))
		first.Key, second.Key = key, func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "second"...), nil }
		b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{first, second}})
		for range 2 { // the second time the ticket's memory is a used one
			b.Begin(get("")).End(200, nil)
		}
		if want := []string{c.want, "=second", c.want, "=second"}; !slices.Equal(store.keys, want) {
			t.Errorf("%s: keys %q, want %q", name, store.keys, want)
		}
	}
	if string(elsewhere) != "elsewhere" {
		t.Errorf("the key function's own memory was written to: %q", elsewhere)
	}
}

// Keys of any length: long ones are stored short, and differ while they differ.
func TestLongKeys(t *testing.T) {
	store := new(seen)
	b := configured(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(5))}})
	long := strings.Repeat("x", 1<<20)
	keys := []string{strings.Repeat("x", 64), strings.Repeat("x", 65), long, long + "y", long + "z", "#" + long}
	for _, key := range keys {
		b.Begin(get(key)).End(200, nil)
		if _, err := b.Allow(t.Context(), key, 1); err != nil { // the same key, from a string
			t.Fatal(err)
		}
	}
	distinct := make(map[string]bool)
	for i := 0; i < len(store.keys); i += 2 {
		if len(store.keys[i]) > 80 || store.keys[i] != store.keys[i+1] {
			t.Errorf("of %d bytes %q and %q are stored", len(keys[i/2]), store.keys[i], store.keys[i+1])
		}
		distinct[store.keys[i]] = true
	}
	if len(distinct) != len(keys) {
		t.Errorf("%d keys are stored as %d: %q", len(keys), len(distinct), store.keys)
	}

	// Nobody can name the bucket of a long key by its hash.
	hashed := store.keys[4]
	b.Begin(get(hashed)).End(200, nil)
	if got := store.keys[len(store.keys)-1]; got == hashed {
		t.Errorf("the key %q meets a long one", hashed)
	}
}
