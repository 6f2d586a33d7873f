package ratelimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// situation returns the ticket of a request that is answered for a reason.
func situation(reason string, style ratelimit.AnswerStyle, method string) *ratelimit.Ticket {
	cost := int64(1)
	config := ratelimit.Config{Answer: style, OnFailure: ratelimit.FailClosed}
	policies := func(names ...string) {
		for _, name := range names {
			p := pol(name, ratelimit.PerMinute(2))
			p.Cost = func(ratelimit.Request) (int64, error) { return cost, nil }
			config.Policies = append(config.Policies, p)
		}
	}
	switch reason {
	case "denied by two":
		policies("first", "second")
		wide := pol("wide", ratelimit.PerHour(100))
		trial := over(pol("trial", ratelimit.PerHour(1)), ratelimit.Shadow())
		meter := over(pol("billed", ratelimit.PerHour(1)), ratelimit.Meter())
		config.Policies = append(config.Policies, wide, trial, meter)
	case "without a key":
		policies("api")
		config.Policies[0].NoKey = ratelimit.NoKeyDeny
	case "unavailable":
		policies("api")
		config.Store = limittest.Fail(errors.New("boom"))
	default:
		policies("api")
	}
	b := configured(config)
	b.Allow(context.Background(), "ann", 2)
	switch reason {
	case "never":
		cost = 3
	case "errored":
		cost = -1
	case "allowed":
		cost = 0
	}
	h := http.Header{"X-Key": {"ann"}}
	if reason == "without a key" {
		h = nil
	}
	return b.Begin(request(limittest.Request{Method: method, Header: h}))
}

func TestBody(t *testing.T) {
	const iana = "https://iana.org/assignments/http-problem-types#"
	for _, c := range []struct {
		reason              string
		status              int
		json, problem, text string
	}{
		{
			"denied", 429,
			`{"error":"rate_limit_exceeded","retry_after":30}`,
			`{"type":"` + iana + `quota-exceeded","title":"Rate limit exceeded","status":429,"retry_after":30,"violated-policies":["api"]}`,
			"rate limit exceeded, retry in 30 s\n",
		},
		{
			"denied by two", 429,
			`{"error":"rate_limit_exceeded","retry_after":30}`,
			`{"type":"` + iana + `quota-exceeded","title":"Rate limit exceeded","status":429,"retry_after":30,"violated-policies":["first","second"]}`,
			"rate limit exceeded, retry in 30 s\n",
		},
		{
			"never", 429,
			`{"error":"rate_limit_exceeded"}`,
			`{"type":"` + iana + `quota-exceeded","title":"Rate limit exceeded","status":429,"violated-policies":["api"]}`,
			"rate limit exceeded\n",
		},
		{
			"without a key", 429,
			`{"error":"rate_limit_exceeded"}`,
			`{"type":"` + iana + `quota-exceeded","title":"Rate limit exceeded","status":429,"violated-policies":["api"]}`,
			"rate limit exceeded\n",
		},
		{
			"unavailable", 503,
			`{"error":"unavailable"}`,
			`{"type":"` + iana + `temporary-reduced-capacity","title":"Unavailable","status":503}`,
			"unavailable\n",
		},
		{
			"errored", 500,
			`{"error":"internal_error"}`,
			`{"type":"about:blank","title":"Internal Server Error","status":500}`,
			"internal error\n",
		},
	} {
		for style, want := range map[ratelimit.AnswerStyle][2]string{
			ratelimit.AnswerJSON:    {"application/json", c.json},
			ratelimit.AnswerProblem: {"application/problem+json", c.problem},
			ratelimit.AnswerText:    {"text/plain; charset=utf-8", c.text},
		} {
			ticket := situation(c.reason, style, "GET")
			contentType, body := ticket.Body()
			if ticket.Status() != c.status || contentType != want[0] || string(body) != want[1] {
				t.Errorf("%s: %d %s\n%s\nwant %d %s\n%s", c.reason, ticket.Status(), contentType, body, c.status, want[0], want[1])
			}
			if strings.HasSuffix(contentType, "json") && !json.Valid(body) {
				t.Errorf("%s: %s is no JSON", c.reason, body)
			}
			if got := header(ticket, "Cache-Control"); got != "no-store" {
				t.Errorf("%s: Cache-Control %q", c.reason, got)
			}
			if _, again := ticket.Body(); string(again) != want[1] {
				t.Errorf("%s: asked again: %s", c.reason, again)
			}
			ticket.End(c.status, nil)

			head := situation(c.reason, style, "HEAD")
			if contentType, body := head.Body(); contentType != want[0] || body != nil {
				t.Errorf("%s: HEAD is answered %s %q", c.reason, contentType, body)
			}
			head.End(c.status, nil)
		}
	}

	allowed := situation("allowed", ratelimit.AnswerJSON, "GET")
	defer allowed.End(200, nil)
	if contentType, body := allowed.Body(); contentType != "" || body != nil {
		t.Errorf("allowed: %s %s", contentType, body)
	}
}

// The body tells the wait that the header tells, a prior one included, and neither
// touches the other's memory.
func TestBodyAndHeadersAgree(t *testing.T) {
	ticket := situation("denied", ratelimit.AnswerJSON, "GET")
	defer ticket.End(429, nil)
	ticket.Merge(func(name string) string {
		if name == "Retry-After" {
			return "77"
		}
		return ""
	})
	before := headers(ticket)
	_, body := ticket.Body()
	if want := `{"error":"rate_limit_exceeded","retry_after":77}`; string(body) != want {
		t.Errorf("%s, want %s", body, want)
	}
	_ = append(body, "of an app that appends"...)
	if after := headers(ticket); strings.Join(before, "\n") != strings.Join(after, "\n") || header(ticket, "Retry-After") != "77" {
		t.Errorf("headers %q became %q", before, after)
	}
}
