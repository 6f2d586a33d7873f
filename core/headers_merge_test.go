package ratelimit_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// stacked returns the headers that two limiters of a family set, one inside the
// other, as adapters set them, at the n-th request. The inner one is not asked
// where the outer one denies.
func stacked(style ratelimit.HeaderStyle, n int, outer, inner []ratelimit.Policy) []string {
	b := configured(ratelimit.Config{Headers: style, Policies: outer})
	limiters := []*ratelimit.Limiter{b.Limiter, b.With(inner...)}
	var h http.Header
	for range n {
		h = make(http.Header)
		for _, l := range limiters {
			ticket := l.Begin(get("ann"))
			ticket.Merge(h.Get)
			for _, line := range headers(ticket) {
				name, value, _ := strings.Cut(line, ": ")
				h.Set(name, value)
			}
			status := ticket.Status()
			ticket.End(200, nil)
			if status != 0 {
				break
			}
		}
	}
	var lines []string
	for name := range h {
		lines = append(lines, name+": "+h.Get(name))
	}
	slices.Sort(lines)
	return lines
}

// Of limiters inside each other the stricter is told, once.
func TestStackedLimiters(t *testing.T) {
	wide := []ratelimit.Policy{pol("wide", ratelimit.PerHour(100).Using(ratelimit.FixedWindow))}
	tight := []ratelimit.Policy{pol("tight", ratelimit.PerMinute(2).Using(ratelimit.FixedWindow))}
	none := []ratelimit.Policy{over(pol("trial", ratelimit.PerMinute(1)), ratelimit.Shadow())}
	x := ratelimit.HeaderStyle{ResetDelta: true}
	draft6 := ratelimit.HeaderStyle{Draft: ratelimit.Draft6, OmitX: true}
	draft11 := ratelimit.HeaderStyle{Draft: ratelimit.Draft11, OmitX: true}
	xTight := []string{"X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: 60"}
	for _, c := range []struct {
		name         string
		style        ratelimit.HeaderStyle
		n            int
		outer, inner []ratelimit.Policy
		want         []string
	}{
		{"inner stricter", x, 1, wide, tight, xTight},
		{"outer stricter", x, 1, tight, wide, xTight},
		{"inner says nothing", x, 1, tight, none, xTight},
		{"outer says nothing", x, 1, none, tight, xTight},
		{"inner denies", x, 3, wide, tight, []string{
			"Cache-Control: no-store", "Retry-After: 60", "X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 60",
		}},
		{"outer denies", x, 3, tight, wide, []string{
			"Cache-Control: no-store", "Retry-After: 60", "X-Ratelimit-Limit: 2", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 60",
		}},
		{"draft 6, inner stricter", draft6, 1, wide, tight, []string{"Ratelimit-Limit: 2", "Ratelimit-Remaining: 1", "Ratelimit-Reset: 60"}},
		{"draft 6, outer stricter", draft6, 1, tight, wide, []string{"Ratelimit-Limit: 2", "Ratelimit-Remaining: 1", "Ratelimit-Reset: 60"}},
		{"draft 11 tells both", draft11, 1, wide, tight, []string{
			`Ratelimit-Policy: "wide";q=100;w=3600, "tight";q=2;w=60`, `Ratelimit: "wide";r=99;t=3600, "tight";r=1;t=60`,
		}},
		{"draft 11, inner says nothing", draft11, 1, wide, none, []string{
			`Ratelimit-Policy: "wide";q=100;w=3600`, `Ratelimit: "wide";r=99;t=3600`,
		}},
	} {
		if diff := cmp.Diff(c.want, stacked(c.style, c.n, c.outer, c.inner)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// merged returns a header of a ticket that was told of prior ones: with 5 of 10
// left or, at 11 charges, denied for six seconds.
func merged(charges int, prior map[string]string, name string) string {
	b := newBench(pol("api", ratelimit.PerMinute(10)))
	for range charges - 1 {
		b.Begin(get("ann")).End(200, nil)
	}
	ticket := b.Begin(get("ann"))
	defer ticket.End(200, nil)
	ticket.Merge(func(name string) string { return prior[name] })
	return header(ticket, name)
}

// What is there already need not come from a limiter, or be a number at all.
func TestMergePriorBudget(t *testing.T) {
	const limit, remaining = "X-Ratelimit-Limit", "X-Ratelimit-Remaining"
	for _, c := range []struct {
		limit, remaining string
		kept             bool // what is there
	}{
		{"10", "4", true},
		{"10", "5", true}, // the same share
		{"10", "6", false},
		{"1000", "499", true},
		{"1000", "501", false},
		{"2147483648", "1", true},
		{"10", "0", true},
		{"", "0", false},
		{"10", "", false},
		{"ten", "4", false},
		{"10", "four", false},
		{"0", "0", false},
		{"-10", "4", false},
		{"10", "-1", false},
		{"9223372036854775807", "4", false},
		{"10", "9223372036854775807", false},
		{"99999999999999999999", "4", false},
		{"10, 20", "4, 3", false},
		{"10;w=60", "4", false},
		{"10.5", "4", false},
	} {
		prior := map[string]string{limit: c.limit, remaining: c.remaining}
		want := "10"
		if c.kept {
			want = ""
		}
		if got := merged(5, prior, limit); got != want {
			t.Errorf("%q of %q left: the limit is told as %q, want %q", c.remaining, c.limit, got, want)
		}
		if got := merged(11, prior, limit); got != "10" {
			t.Errorf("%q of %q left: a denial tells %q, want its own 10", c.remaining, c.limit, got)
		}
	}
}

func TestMergePriorRetryAfter(t *testing.T) {
	for prior, want := range map[string]string{
		"": "6", "1": "6", "6": "6", "7": "7", "3600": "3600", "0": "6", "-9": "6", "soon": "6", "1.5": "6",
		"Thu, 01 Jan 2026 00:00:00 GMT": "6", "99999999999999999999": "6",
	} {
		if got := merged(11, map[string]string{"Retry-After": prior}, "Retry-After"); got != want {
			t.Errorf("%q was there: %q, want %q", prior, got, want)
		}
		if got := merged(5, map[string]string{"Retry-After": prior}, "Retry-After"); got != "" {
			t.Errorf("%q was there: an allowed request tells %q", prior, got)
		}
	}
}

// Merge may follow HeaderAt, and come twice: the last one counts.
func TestMergeTwice(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerMinute(10)))
	ticket := b.Begin(get("ann"))
	defer ticket.End(200, nil)
	before := headers(ticket)
	ticket.Merge(func(name string) string {
		return map[string]string{"X-Ratelimit-Limit": "10", "X-Ratelimit-Remaining": "1"}[name]
	})
	if got := headers(ticket); len(got) != 0 {
		t.Errorf("a stricter one is there, yet it tells %q", got)
	}
	ticket.Merge(func(string) string { return "" })
	if diff := cmp.Diff(before, headers(ticket)); diff != "" {
		t.Error(diff)
	}
}
