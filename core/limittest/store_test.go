package limittest_test

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

func everyone(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "all"...), nil }

func policy(name string) ratelimit.Policy {
	return ratelimit.Policy{Name: name, Limit: ratelimit.PerMinute(100), Key: everyone}
}

func TestStoreDoesAsItIsTold(t *testing.T) {
	var store limittest.Store
	limits := store.Limiter()

	limittest.AssertAllowed(t, answer(limits))
	if got := limittest.Remaining(t, answer(limits)); got != 99 {
		t.Errorf("%d left, want 99 each time: nothing is counted", got)
	}
	store.Deny(90 * time.Second)
	limittest.AssertDenied(t, answer(limits), 90*time.Second)
	store.Deny(1)
	limittest.AssertDenied(t, answer(limits), 1)
	store.Deny(ratelimit.Never)
	limittest.AssertDenied(t, answer(limits), ratelimit.Never)
	store.Fail(errors.New("down"))
	if resp := answer(limits); resp.StatusCode != http.StatusOK || resp.Header["X-Ratelimit-Limit"] != nil {
		t.Errorf("failing open: %d %v", resp.StatusCode, resp.Header)
	}
	store.Allow()
	limittest.AssertAllowed(t, answer(limits))
}

func TestStoreKeepsTheContract(t *testing.T) {
	space := ratelimit.NewSpace("api", ratelimit.PerMinute(10))
	charges := []ratelimit.Charge{
		{Space: space, Limit: ratelimit.PerMinute(10), Cost: 3, Mode: ratelimit.Enforce},
		{Space: space, Limit: ratelimit.PerMinute(10), Cost: 0, Mode: ratelimit.Enforce},
		{Space: space, Limit: ratelimit.PerMinute(10), Cost: 12, Mode: ratelimit.Observe},
		{Space: space, Limit: ratelimit.PerMinute(10), Cost: 12, Mode: ratelimit.Force},
	}
	for name, c := range map[string]struct {
		store   *limittest.Store
		allowed []bool
		units   []int64
	}{
		"allow":       {limittest.Allow(), []bool{true, true, true, true}, []int64{3, 0, 12, 12}},
		"deny":        {limittest.Deny(time.Second), []bool{false, true, false, false}, []int64{0, 0, 0, 0}},
		"only shadow": {denyModes(ratelimit.Observe, ratelimit.Force), []bool{true, true, false, false}, []int64{3, 0, 0, 12}},
	} {
		results := make([]ratelimit.Result, len(charges))
		if err := c.store.Take(t.Context(), charges, results); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, r := range results {
			switch {
			case r.Allowed != c.allowed[i] || r.Receipt.Units != c.units[i]:
				t.Errorf("%s, charge %d: allowed %t, %d units; want %t, %d", name, i, r.Allowed, r.Receipt.Units, c.allowed[i], c.units[i])
			case r.Remaining < 0 || r.Remaining > 10 || r.NextAfter > r.ResetAfter || r.Receipt.At == 0:
				t.Errorf("%s, charge %d: unsound: %+v", name, i, r)
			case r.Allowed != (r.RetryAfter == 0):
				t.Errorf("%s, charge %d: allowed %t, retry after %v", name, i, r.Allowed, r.RetryAfter)
			}
		}
	}
}

func denyModes(modes ...ratelimit.Mode) *limittest.Store {
	store := limittest.Allow()
	store.Decide(func(a limittest.Asked) (ratelimit.Result, error) {
		if slices.Contains(modes, a.Mode) {
			return ratelimit.Result{RetryAfter: time.Second, ResetAfter: time.Second}, nil
		}
		return ratelimit.Result{Allowed: true}, nil
	})
	return store
}

// X-RateLimit-Reset is the store's instant plus ResetAfter.
func TestStoreTellsItsInstant(t *testing.T) {
	var clock limittest.Clock
	store := limittest.Deny(30 * time.Second)
	store.Now = clock.Now
	want := strconv.FormatInt(clock.Now().Unix()+60, 10)
	if got := answer(store.Limiter()).Header.Get("X-RateLimit-Reset"); got != want {
		t.Errorf("X-RateLimit-Reset %s, want %s", got, want)
	}
}

func TestStoreFailsAdjustmentsToo(t *testing.T) {
	space := ratelimit.NewSpace("api", ratelimit.PerMinute(10))
	adjustments := []ratelimit.Adjustment{{Op: ratelimit.Refund, Space: space, Units: math.MaxInt64}}
	down := errors.New("down")
	if err := limittest.Fail(down).Adjust(t.Context(), adjustments); !errors.Is(err, down) {
		t.Errorf("got %v, want %v", err, down)
	}
	for _, store := range []*limittest.Store{limittest.Allow(), limittest.Deny(time.Second)} {
		if err := store.Adjust(t.Context(), adjustments); err != nil {
			t.Error(err)
		}
	}
}

func TestStoreRemembersWhatWasAsked(t *testing.T) {
	store := limittest.Allow()
	dear := policy("search")
	dear.Cost = func(ratelimit.Request) (int64, error) { return 5, nil }
	answer(store.Limiter(policy("api"), dear))

	asked := store.Asked()
	if len(asked) != 2 || asked[0].Policy != "api" || asked[0].Cost != 1 || asked[1].Policy != "search" || asked[1].Cost != 5 {
		t.Errorf("asked %+v", asked)
	}
	asked[0].Policy = "changed"
	if store.Asked()[0].Policy != "api" {
		t.Error("the caller's slice is the store's own")
	}
}
