package ratelimit_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// ends is an observer that notes how requests end.
type ends struct {
	recorder
	ended []ratelimit.Ended
}

func (e *ends) Ended(_ context.Context, ended ratelimit.Ended) { e.ended = append(e.ended, ended) }

// An observer of ends is told of every limited request once, and of no other.
func TestEndedIsObserved(t *testing.T) {
	var clock limittest.Clock
	observer := new(ends)
	limits := ratelimit.Must(ratelimit.Config{
		Store:    ratelimit.NewMemory(ratelimit.MemoryConfig{Now: clock.Now}),
		Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(2))},
		Observer: observer,
	})
	failed := errors.New("failed")
	for _, r := range []struct {
		view   ratelimit.View
		status int
		err    error
	}{
		{get("ann"), 200, nil},
		{get("ann"), 404, failed},
		{get("ann"), 429, nil},
		{request(limittest.Request{
			Method: http.MethodOptions,
			Header: http.Header{"Origin": {"https://a.example"}, "Access-Control-Request-Method": {"PUT"}},
		}), 204, nil},
	} {
		ticket := limits.Begin(r.view)
		if want := ticket.Outcome() != ratelimit.Skipped; ticket.WantsStatus() != want {
			t.Errorf("%v: the status is asked for: %v, want %v", ticket.Outcome(), ticket.WantsStatus(), want)
		}
		ticket.End(r.status, r.err)
	}
	acquired, err := limits.Acquire(t.Context(), ratelimit.Ask{Policy: "api", Key: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	acquired.End(0, failed)
	acquired.End(0, nil)
	if acquired.WantsStatus() {
		t.Error("the status is asked for after the end")
	}
	d, _ := limits.Allow(t.Context(), "ann", 1) // these are told of when a handler answers them
	limits.Peek(t.Context(), "ann")
	ratelimit.Refuse(get("ann"), d).End(429, nil)

	want := []ratelimit.Ended{
		{Outcome: ratelimit.Allowed, Status: 200},
		{Outcome: ratelimit.Allowed, Status: 404, Err: failed},
		{Outcome: ratelimit.Denied, Status: 429},
		{Outcome: ratelimit.Allowed, Err: failed},
		{Outcome: ratelimit.Denied, Status: 429},
	}
	if !slices.Equal(observer.ended, want) {
		t.Errorf("ended %+v\nwant  %+v", observer.ended, want)
	}
}

func TestNobodyWantsTheStatus(t *testing.T) {
	ticket := newBench(pol("api", ratelimit.PerHour(2))).Begin(get("ann"))
	defer ticket.End(200, nil)
	if ticket.WantsStatus() {
		t.Error("the status is asked for, and nobody is told")
	}
}
