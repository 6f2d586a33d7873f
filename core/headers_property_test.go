package ratelimit_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

var wholeSeconds = regexp.MustCompile(`^[1-9][0-9]*$`)

// Whatever happens, the numbers make sense: 0 <= Remaining <= Limit in each family,
// through costs, debts, changed limits, resets and pauses; Retry-After on denials
// only, in whole seconds.
func TestHeadersMakeSense(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for a := range ratelimit.Algorithm(6) {
		for _, draft := range []ratelimit.Draft{ratelimit.Draft6, ratelimit.Draft11} {
			var cost int64
			policy := func(name string, quota, most int64, o ratelimit.Over) ratelimit.Policy {
				p := over(pol(name, ratelimit.PerMinute(quota).Using(a)), o)
				p.Most = ratelimit.PerMinute(most).Using(a)
				p.Cost = func(ratelimit.Request) (int64, error) { return cost, nil }
				p.Vary = func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit {
					if r.IntN(3) == 0 {
						l.Quota = 1 + r.Int64N(most)
					}
					return l
				}
				return p
			}
			b := configured(ratelimit.Config{
				Headers: ratelimit.HeaderStyle{Draft: draft, ResetDelta: draft == ratelimit.Draft6},
				Policies: []ratelimit.Policy{
					policy("a", 20, 60, ratelimit.Reject()),
					policy("meter", 5, 100, ratelimit.Meter()),
					policy("trial", 3, 3, ratelimit.Shadow()),
					policy("b", 30, 30, ratelimit.Reject()),
				},
			})
			var denied int
			for range 2000 {
				cost = []int64{0, 1, 1, 1, 5, 20, 70}[r.IntN(7)]
				switch r.IntN(30) {
				case 0:
					b.clock.Advance(time.Duration(r.Int64N(int64(2 * time.Minute))))
				case 1:
					b.Reset(t.Context(), "ann")
				default:
					b.clock.Advance(time.Duration(r.Int64N(int64(5 * time.Second))))
				}
				ticket := b.Begin(get("ann"))
				if ticket.Status() != 0 {
					denied++
				}
				sensible(t, ticket)
				ticket.End(200, nil)
			}
			if denied == 0 || denied == 2000 {
				t.Errorf("%v: %d of 2000 denied", a, denied)
			}
		}
	}
}

// sensible checks the headers of one answer.
func sensible(t *testing.T, ticket *ratelimit.Ticket) {
	t.Helper()
	h := make(map[string]string)
	for _, line := range headers(ticket) {
		name, value, _ := strings.Cut(line, ": ")
		if _, twice := h[name]; twice {
			t.Errorf("%s is told twice", name)
		}
		h[name] = value
	}
	number := func(name string) int64 {
		n, err := strconv.ParseInt(h[name], 10, 64)
		if err != nil {
			t.Errorf("%s: %q is no number", name, h[name])
		}
		return n
	}
	for _, family := range []string{"X-Ratelimit-", "Ratelimit-"} {
		if _, ok := h[family+"Limit"]; !ok {
			continue
		}
		limit, left, reset := number(family+"Limit"), number(family+"Remaining"), number(family+"Reset")
		if left < 0 || left > limit || limit < 1 || reset < 0 {
			t.Errorf("%s: %d of %d left, reset %d", family, left, limit, reset)
		}
		if d := ticket.Decision(); left != d.Remaining || limit != d.Limit.Capacity() {
			t.Errorf("%s: %d of %d left, decided was %+v", family, left, limit, d)
		}
	}
	if field, ok := h["Ratelimit"]; ok {
		policies, limits := parse(t, h["Ratelimit-Policy"]), parse(t, field)
		if len(policies) != len(limits) || len(limits) == 0 {
			t.Fatalf("%s beside %s", h["Ratelimit-Policy"], field)
		}
		for i, m := range limits {
			q, r := policies[i].Params[0].Value.(int64), m.Params[0].Value.(int64)
			if policies[i].Name != m.Name || m.Name == "trial" || r < 0 || r > q {
				t.Errorf("%s beside %s", h["Ratelimit-Policy"], field)
			}
		}
	}

	wait, told := h["Retry-After"]
	longest := time.Duration(0)
	for d := range ticket.Decisions() {
		if !d.Fits && d.Enforced() {
			longest = max(longest, d.RetryAfter)
		}
	}
	switch {
	case ticket.Status() == 0 || longest == ratelimit.Never:
		if told {
			t.Errorf("%v: Retry-After %s", ticket.Outcome(), wait)
		}
	case !wholeSeconds.MatchString(wait):
		t.Errorf("Retry-After %q", wait)
	case number("Retry-After") != int64((longest+time.Second-1)/time.Second):
		t.Errorf("Retry-After %s, decided was %v", wait, longest)
	}
}
