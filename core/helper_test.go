package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// byKey counts by the header X-Key.
func byKey(dst []byte, r ratelimit.Request) ([]byte, error) {
	key, ok := r.HeaderLine("X-Key", 0)
	if !ok {
		return dst, ratelimit.ErrNoKey
	}
	return append(dst, key...), nil
}

// pol returns a policy that counts by the header X-Key.
func pol(name string, l ratelimit.Limit) ratelimit.Policy {
	return ratelimit.Policy{Name: name, Limit: l, Key: byKey}
}

// over returns the policy with what happens above its limit.
func over(p ratelimit.Policy, o ratelimit.Over) ratelimit.Policy { p.Over = o; return p }

// get is a GET of / with a key.
func get(key string) ratelimit.View {
	return request(limittest.Request{Header: http.Header{"X-Key": {key}}})
}

// request is a request of / that has what is given; a GET unless told otherwise.
func request(r limittest.Request) ratelimit.View {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	r.Path = "/"
	return r.View()
}

// bench is a limiter on a memory store, its clock, and what it tells.
type bench struct {
	*ratelimit.Limiter
	clock limittest.Clock
	said  recorder
}

// newBench returns a limiter of the policies.
func newBench(policies ...ratelimit.Policy) *bench {
	return configured(ratelimit.Config{Policies: policies})
}

// configured returns a limiter; store, if there is none, and observer are the bench's.
func configured(c ratelimit.Config) *bench {
	b := new(bench)
	if c.Store == nil {
		c.Store = ratelimit.NewMemory(ratelimit.MemoryConfig{Now: b.clock.Now})
	}
	c.Observer = &b.said
	b.Limiter = ratelimit.Must(c)
	return b
}

// begin decides about a request and returns the outcome, its status and what is left.
func (b *bench) begin(v ratelimit.View) string {
	t := b.Begin(v)
	defer t.End(0, nil)
	return fmt.Sprintf("%v %d, %d left", t.Outcome(), t.Status(), t.Decision().Remaining)
}

// left returns what is left of a key under each policy.
func (b *bench) left(t testing.TB, key string, policies ...ratelimit.Policy) []int64 {
	t.Helper()
	left := make([]int64, len(policies))
	for i, p := range policies {
		d, err := b.With(p).Peek(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		left[i] = d.Remaining
	}
	return left
}

// recorder is an observer that notes what it is told, a line each.
type recorder struct {
	mu      sync.Mutex
	decided []string
	reports []ratelimit.Report
}

func (r *recorder) Decided(_ context.Context, key []byte, d ratelimit.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decided = append(r.decided, fmt.Sprintf("%s %q %v", d.Policy, key, d.Outcome))
}

func (r *recorder) Reported(_ context.Context, report ratelimit.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, report)
}

// take returns what was reported since the last call.
func (r *recorder) take() []ratelimit.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	reports := r.reports
	r.reports = nil
	return reports
}

// headers returns a ticket's headers, a line each.
func headers(t *ratelimit.Ticket) []string {
	var lines []string
	for i := 0; ; i++ {
		name, value, ok := t.HeaderAt(i)
		if !ok {
			return lines
		}
		lines = append(lines, name+": "+string(value))
	}
}

// header returns the value of one of a ticket's headers, or "".
func header(t *ratelimit.Ticket, name string) string {
	for _, line := range headers(t) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return value
		}
	}
	return ""
}
