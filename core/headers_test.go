package ratelimit_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// told returns the headers of the n-th request of an instant: that at which a
// limittest.Clock starts, 1767225600 seconds since 1970.
func told(style ratelimit.HeaderStyle, n int, policies ...ratelimit.Policy) []string {
	b := configured(ratelimit.Config{Headers: style, Policies: policies})
	for range n - 1 {
		b.Begin(get("ann")).End(200, nil)
	}
	t := b.Begin(get("ann"))
	defer t.End(200, nil)
	return headers(t)
}

// Ten a minute with a burst of four: one comes back every six seconds, all four in
// 24. Two an hour in a fixed window: all come back at the full hour.
func TestHeaders(t *testing.T) {
	burst := pol("burst", ratelimit.PerMinute(10).WithBurst(4))
	hourly := pol("hourly", ratelimit.PerHour(2).Using(ratelimit.FixedWindow))
	x := ratelimit.HeaderStyle{}
	delta := ratelimit.HeaderStyle{ResetDelta: true}
	draft6 := ratelimit.HeaderStyle{OmitX: true, Draft: ratelimit.Draft6}
	draft11 := ratelimit.HeaderStyle{OmitX: true, Draft: ratelimit.Draft11}
	const noStore = "Cache-Control: no-store"
	for _, c := range []struct {
		name     string
		style    ratelimit.HeaderStyle
		n        int
		policies []ratelimit.Policy
		want     []string
	}{
		{"first", x, 1, []ratelimit.Policy{burst}, []string{
			"X-Ratelimit-Limit: 4", "X-Ratelimit-Remaining: 3", "X-Ratelimit-Reset: 1767225606",
		}},
		{"last", x, 4, []ratelimit.Policy{burst}, []string{
			"X-Ratelimit-Limit: 4", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 1767225624",
		}},
		{"denied", x, 5, []ratelimit.Policy{burst}, []string{
			"X-Ratelimit-Limit: 4", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 1767225624", "Retry-After: 6", noStore,
		}},
		{"delta", delta, 4, []ratelimit.Policy{burst}, []string{
			"X-Ratelimit-Limit: 4", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 24",
		}},
		{"window", x, 1, []ratelimit.Policy{hourly}, []string{
			"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 1767229200",
		}},
		{"draft 6", draft6, 2, []ratelimit.Policy{burst}, []string{
			"Ratelimit-Limit: 4", "Ratelimit-Remaining: 2", "Ratelimit-Reset: 12",
		}},
		{"draft 6, denied", draft6, 5, []ratelimit.Policy{burst}, []string{
			"Ratelimit-Limit: 4", "Ratelimit-Remaining: 0", "Ratelimit-Reset: 24", "Retry-After: 6", noStore,
		}},
		{"draft 11", draft11, 2, []ratelimit.Policy{burst}, []string{
			`Ratelimit-Policy: "burst";q=4;w=24`, `Ratelimit: "burst";r=2;t=6`,
		}},
		{"draft 11, both", draft11, 2, []ratelimit.Policy{burst, hourly}, []string{
			`Ratelimit-Policy: "burst";q=4;w=24, "hourly";q=2;w=3600`, `Ratelimit: "burst";r=2;t=6, "hourly";r=0;t=3600`,
		}},
		{"draft 11, denied by one of two", draft11, 3, []ratelimit.Policy{burst, hourly}, []string{
			`Ratelimit-Policy: "hourly";q=2;w=3600`, `Ratelimit: "hourly";r=0;t=3600`, "Retry-After: 3600", noStore,
		}},
		{"X beside draft 11", ratelimit.HeaderStyle{Draft: ratelimit.Draft11}, 1, []ratelimit.Policy{hourly}, []string{
			"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 1767229200",
			`Ratelimit-Policy: "hourly";q=2;w=3600`, `Ratelimit: "hourly";r=1;t=3600`,
		}},
		{"X beside draft 6", ratelimit.HeaderStyle{Draft: ratelimit.Draft6, ResetDelta: true}, 1, []ratelimit.Policy{hourly}, []string{
			"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 3600",
			"Ratelimit-Limit: 2", "Ratelimit-Remaining: 1", "Ratelimit-Reset: 3600",
		}},
		{"none", ratelimit.HeaderStyle{OmitX: true}, 1, []ratelimit.Policy{burst}, nil},
		{"none, denied", ratelimit.HeaderStyle{OmitX: true}, 5, []ratelimit.Policy{burst}, []string{"Retry-After: 6", noStore}},

		{"no shadow", draft11, 2, []ratelimit.Policy{over(pol("trial", ratelimit.PerHour(1)), ratelimit.Shadow()), hourly}, []string{
			`Ratelimit-Policy: "hourly";q=2;w=3600`, `Ratelimit: "hourly";r=0;t=3600`,
		}},
		{"a shadow alone", ratelimit.HeaderStyle{Draft: ratelimit.Draft11}, 2, []ratelimit.Policy{over(hourly, ratelimit.Shadow())}, nil},
		{"a meter in debt", ratelimit.HeaderStyle{ResetDelta: true}, 5, []ratelimit.Policy{over(hourly, ratelimit.Meter())}, []string{
			"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 3600",
		}},
		{"a meter beside", delta, 1, []ratelimit.Policy{over(pol("billed", ratelimit.PerHour(1)), ratelimit.Meter()), hourly}, []string{
			"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 3600",
		}},
		{"no meter in a denial", draft11, 3, []ratelimit.Policy{over(pol("billed", ratelimit.PerHour(1)), ratelimit.Meter()), hourly}, []string{
			`Ratelimit-Policy: "hourly";q=2;w=3600`, `Ratelimit: "hourly";r=0;t=3600`, "Retry-After: 3600", noStore,
		}},
		{"a window is told in whole seconds", draft11, 1, []ratelimit.Policy{pol("fast", ratelimit.Per(3, 1500*time.Millisecond))}, []string{
			`Ratelimit-Policy: "fast";q=3;w=2`, `Ratelimit: "fast";r=2;t=1`,
		}},
	} {
		if diff := cmp.Diff(c.want, told(c.style, c.n, c.policies...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Resets are rounded up, and told from the second that it is.
func TestResetIsRoundedUp(t *testing.T) {
	p := pol("api", ratelimit.PerSecond(1).WithBurst(9)) // full again a second later
	for _, c := range []struct {
		into         time.Duration
		reset, delta string
	}{
		{0, "1767225601", "1"},
		{time.Microsecond, "1767225602", "1"},
		{999_999 * time.Microsecond, "1767225602", "1"},
		{time.Second, "1767225602", "1"},
	} {
		for _, style := range []ratelimit.HeaderStyle{{}, {ResetDelta: true}} {
			b := configured(ratelimit.Config{Headers: style, Policies: []ratelimit.Policy{p}})
			b.clock.Advance(c.into)
			ticket := b.Begin(get("ann"))
			want := c.reset
			if style.ResetDelta {
				want = c.delta
			}
			if got := header(ticket, "X-Ratelimit-Reset"); got != want {
				t.Errorf("%v into a second: %s, want %s", c.into, got, want)
			}
			ticket.End(200, nil)
		}
	}
}

// Retry-After is whole seconds, one at least, rounded up; waiting so long is
// admitted. There is none for what no wait helps.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		window time.Duration
		cost   int64
		want   string
	}{
		{time.Millisecond, 1, "1"},
		{time.Second, 1, "1"},
		{time.Second + time.Microsecond, 1, "2"},
		{90 * time.Second, 1, "90"},
		{366 * 24 * time.Hour, 1, "31622400"},
		{time.Second, 2, ""},
	} {
		cost := int64(1)
		p := pol("api", ratelimit.Per(1, c.window))
		p.Cost = func(ratelimit.Request) (int64, error) { return cost, nil }
		b := newBench(p)
		b.Begin(get("ann")).End(200, nil)
		cost = c.cost
		ticket := b.Begin(get("ann"))
		got := header(ticket, "Retry-After")
		if ticket.Outcome() != ratelimit.Denied || got != c.want {
			t.Errorf("1 per %v: %v, %q; want %q", c.window, ticket.Outcome(), got, c.want)
		}
		ticket.End(429, nil)
		if seconds, err := strconv.Atoi(got); err == nil {
			b.clock.Advance(time.Duration(seconds) * time.Second)
			if again := b.begin(get("ann")); !strings.HasPrefix(again, "allowed") {
				t.Errorf("1 per %v, %ss later: %s", c.window, got, again)
			}
		}
	}
}

// Jitter only ever adds, up to what it may, and body and header agree.
func TestJitter(t *testing.T) {
	b := configured(ratelimit.Config{
		Headers:  ratelimit.HeaderStyle{Jitter: 10 * time.Second},
		Policies: []ratelimit.Policy{pol("api", ratelimit.PerMinute(1))},
	})
	b.Begin(get("ann")).End(200, nil)
	seen := make(map[string]bool)
	for range 300 {
		ticket := b.Begin(get("ann"))
		got := header(ticket, "Retry-After")
		if seconds, err := strconv.Atoi(got); err != nil || seconds < 60 || seconds > 70 {
			t.Fatalf("%q, want 60 to 70", got)
		}
		if _, body := ticket.Body(); !strings.Contains(string(body), `"retry_after":`+got+"}") {
			t.Fatalf("header %s, body %s", got, body)
		}
		seen[got] = true
		ticket.End(429, nil)
	}
	if len(seen) < 5 {
		t.Errorf("300 denials are told %d different waits", len(seen))
	}
}

func TestHeaderNames(t *testing.T) {
	x := []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}
	for _, c := range []struct {
		style ratelimit.HeaderStyle
		want  []string
	}{
		{ratelimit.HeaderStyle{}, append(x[:3:3], "Retry-After")},
		{ratelimit.HeaderStyle{OmitX: true}, []string{"Retry-After"}},
		{ratelimit.HeaderStyle{Draft: ratelimit.Draft6}, append(x[:3:3], "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Retry-After")},
		{ratelimit.HeaderStyle{OmitX: true, Draft: ratelimit.Draft11}, []string{"Ratelimit-Policy", "Ratelimit", "Retry-After"}},
	} {
		names := c.style.HeaderNames()
		if !slices.Equal(names, c.want) {
			t.Errorf("%+v: %q, want %q", c.style, names, c.want)
		}
		// All that is set is among them, in the spelling that net/http uses.
		for _, line := range told(c.style, 2, pol("api", ratelimit.PerMinute(1))) {
			name, _, _ := strings.Cut(line, ": ")
			if name != http.CanonicalHeaderKey(name) || name != "Cache-Control" && !slices.Contains(names, name) {
				t.Errorf("%+v: sets %s", c.style, name)
			}
		}
	}
}

// A store without a budget to tell, such as one that let the request through while
// it was down, shows none; nor is there any for a request that nothing applied to.
func TestNoHeadersWithoutADecision(t *testing.T) {
	p := pol("api", ratelimit.PerMinute(1))
	p.NoKey = ratelimit.NoKeySkip
	b := configured(ratelimit.Config{Headers: ratelimit.HeaderStyle{Draft: ratelimit.Draft11}, Policies: []ratelimit.Policy{p}})
	ticket := b.Begin(request(limittest.Request{}))
	defer ticket.End(200, nil)
	if got := headers(ticket); got != nil {
		t.Errorf("%q", got)
	}
}
