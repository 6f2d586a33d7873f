package limittest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// AssertAllowed fails the test where the response is a limiter's denial, or its
// X-RateLimit headers contradict themselves. Whether there are any is not asked:
// a skipped request and one that a failed store let through have none; [Remaining]
// insists on them. A recorder's Result is a response, as is fiber's app.Test.
func AssertAllowed(tb testing.TB, resp *http.Response) {
	tb.Helper()
	if resp.StatusCode == http.StatusTooManyRequests {
		tb.Errorf("denied: status 429, %s; want a request within the limits", budget(resp.Header))
	}
	if h := resp.Header.Values("Retry-After"); len(h) > 0 && resp.StatusCode < 400 {
		tb.Errorf("status %d has Retry-After %q; want none on what is allowed", resp.StatusCode, h)
	}
	assertSound(tb, resp.Header)
}

// AssertDenied fails the test where the response is not a limiter's denial with
// that wait, rounded up to whole seconds: status 429, one Retry-After (none for
// [ratelimit.Never]), Cache-Control: no-store, and X-RateLimit headers, if any,
// that agree with each other. A limiter whose HeaderStyle has a Jitter tells
// longer waits.
func AssertDenied(tb testing.TB, resp *http.Response, retryAfter time.Duration) {
	tb.Helper()
	if resp.StatusCode != http.StatusTooManyRequests {
		tb.Errorf("status %d, %s; want 429", resp.StatusCode, budget(resp.Header))
		return
	}
	var want []string
	if retryAfter != ratelimit.Never {
		want = []string{strconv.FormatInt(seconds(retryAfter), 10)}
	}
	if got := resp.Header.Values("Retry-After"); strings.Join(got, ", ") != strings.Join(want, ", ") {
		tb.Errorf("Retry-After %q; want %q", got, want)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		tb.Errorf("Cache-Control %q on a denial; want no-store", got)
	}
	assertSound(tb, resp.Header)
}

// Remaining returns X-RateLimit-Remaining, and ends the test where the response
// does not tell it once, as a whole number.
func Remaining(tb testing.TB, resp *http.Response) int64 {
	tb.Helper()
	return number(tb, resp.Header, "X-RateLimit-Remaining")
}

// RetryAfter returns Retry-After, and ends the test where the response does not
// tell it once, as whole seconds, at least one.
func RetryAfter(tb testing.TB, resp *http.Response) time.Duration {
	tb.Helper()
	if got := resp.Header.Get("Retry-After"); !wholeSeconds(got) {
		tb.Fatalf("status %d, Retry-After %q; want whole seconds, at least 1", resp.StatusCode, got)
	}
	return time.Duration(number(tb, resp.Header, "Retry-After")) * time.Second
}

// assertSound checks what holds for every answer.
func assertSound(tb testing.TB, h http.Header) {
	tb.Helper()
	if got := h.Values("Retry-After"); len(got) > 1 || len(got) == 1 && !wholeSeconds(got[0]) {
		tb.Errorf("Retry-After %q; want one line of whole seconds, at least 1", got)
	}
	if h.Values("X-RateLimit-Limit") == nil && h.Values("X-RateLimit-Remaining") == nil {
		return
	}
	limit, remaining := number(tb, h, "X-RateLimit-Limit"), number(tb, h, "X-RateLimit-Remaining")
	if remaining < 0 || remaining > limit {
		tb.Errorf("X-RateLimit-Remaining %d; want 0 to the limit, %d", remaining, limit)
	}
	number(tb, h, "X-RateLimit-Reset")
}

func number(tb testing.TB, h http.Header, name string) int64 {
	tb.Helper()
	lines := h.Values(name)
	if len(lines) != 1 {
		tb.Fatalf("%s %q; want one line", name, lines)
	}
	n, err := strconv.ParseInt(lines[0], 10, 64)
	if err != nil {
		tb.Fatalf("%s %q; want a whole number", name, lines[0])
	}
	return n
}

// budget tells what the headers say, for messages.
func budget(h http.Header) string {
	var b strings.Builder
	for _, name := range [...]string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "Retry-After"} {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + " " + strconv.Quote(strings.Join(h.Values(name), ", ")))
	}
	return b.String()
}

// wholeSeconds reports whether s is a positive decimal number as RFC 9110,
// section 10.2.3, writes delays: digits alone, and here none to spare.
func wholeSeconds(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

func seconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
