package ratelimit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// The names, as net/http and fasthttp spell them. HTTP does not mind the case.
const (
	xLimit, xRemaining, xReset = "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"
	d6Limit, d6Remaining       = "Ratelimit-Limit", "Ratelimit-Remaining"
	d6Reset                    = "Ratelimit-Reset"
	d11Policy, d11Limit        = "Ratelimit-Policy", "Ratelimit"
	retryAfter, cacheControl   = "Retry-After", "Cache-Control"
)

// rendering is the part of a ticket that is text.
type rendering struct {
	text    []byte
	headers []header
	done    bool
	retry   int64 // s, told in header and body; 0: none
}

// header is a name and where in the text its value is.
type header struct {
	name     string
	from, to int
}

// Merge tells the ticket which headers the response has already, from a limiter
// further out, so that those of the stricter one are seen: the smaller share left,
// the longer Retry-After. Call it before HeaderAt and Body.
func (t *Ticket) Merge(prior func(name string) string) {
	t.headers, t.text = t.headers[:0], t.text[:0]
	t.render(prior)
}

// HeaderAt returns the i-th header to set, from 0, under its canonical name, and
// whether there is one. The value is valid until End.
func (t *Ticket) HeaderAt(i int) (name string, value []byte, ok bool) {
	if !t.done {
		t.render(none)
	}
	if i >= len(t.headers) {
		return "", nil, false
	}
	h := t.headers[i]
	return h.name, t.text[h.from:h.to], true
}

func none(string) string { return "" }

// render writes the headers.
func (t *Ticket) render(prior func(string) string) {
	t.done = true
	if t.outcome == Allowed || t.outcome == Denied {
		t.budget(prior)
	}
	if t.status == 0 {
		return
	}
	if t.outcome == Denied {
		t.retryHeader(prior)
	}
	from := len(t.text)
	t.text = append(t.text, "no-store"...)
	t.headers = append(t.headers, header{cacheControl, from, len(t.text)})
}

// setInt adds a header whose value is a number.
func (t *Ticket) setInt(name string, n int64) {
	from := len(t.text)
	t.text = strconv.AppendInt(t.text, n, 10)
	t.headers = append(t.headers, header{name, from, len(t.text)})
}

// budget writes what is left, in every form of the style.
func (t *Ticket) budget(prior func(string) string) {
	d, style := &t.decisions[t.binding], &t.limiter.headers
	if d.mode == Observe || d.at == 0 {
		return // nothing but shadows, or nobody asked
	}
	if prior(style.first()) != "" {
		t.limiter.family.doubled.suspect()
	}
	if !style.OmitX && t.stricter(d, prior(xLimit), prior, xRemaining) {
		t.setInt(xLimit, d.Limit.Capacity())
		t.setInt(xRemaining, d.Remaining)
		if style.ResetDelta {
			t.setInt(xReset, seconds(d.ResetAfter))
		} else {
			t.setInt(xReset, ceil(d.at+d.ResetAfter.Microseconds(), 1_000_000))
		}
	}
	switch style.Draft {
	case Draft6:
		if t.stricter(d, prior(d6Limit), prior, d6Remaining) {
			t.setInt(d6Limit, d.Limit.Capacity())
			t.setInt(d6Remaining, d.Remaining)
			t.setInt(d6Reset, seconds(d.ResetAfter))
		}
	case Draft11:
		t.list(d11Policy, prior, appendPolicy)
		t.list(d11Limit, prior, appendLimit)
	}
}

// stricter reports whether a decision leaves a smaller share than the headers that
// are there.
func (t *Ticket) stricter(d *Decision, limit string, prior func(string) string, remaining string) bool {
	if limit == "" || t.outcome == Denied {
		return true
	}
	priorLimit, err1 := strconv.ParseInt(limit, 10, 64)
	left, err2 := strconv.ParseInt(prior(remaining), 10, 64)
	if err1 != nil || err2 != nil || priorLimit < 1 || priorLimit > MaxQuota || left < 0 || left > MaxQuota {
		return true
	}
	return d.Remaining*priorLimit < left*d.Limit.Capacity()
}

// list writes a structured-field list with a member for each policy that a client
// should know: all but shadows, and of a denial those that denied.
func (t *Ticket) list(name string, prior func(string) string, member func([]byte, *Decision, bool) []byte) {
	from, denied := len(t.text), t.outcome == Denied
	b := t.text
	if !denied {
		b = append(b, prior(name)...)
	}
	for i := range t.decisions {
		d := &t.decisions[i]
		if d.mode == Observe || d.at == 0 || denied && (d.Fits || d.mode != Enforce) {
			continue
		}
		if len(b) > from {
			b = append(b, ", "...)
		}
		b = append(append(append(b, '"'), d.Policy...), '"')
		b = member(b, d, denied)
		if secret := t.limiter.headers.PartitionKey; secret != nil && i < len(t.charges) {
			b = appendPartition(b, secret, t.charges[i].Key)
		}
	}
	if t.text = b; len(b) > from {
		t.headers = append(t.headers, header{name, from, len(b)})
	}
}

// appendPolicy appends q, the capacity, and w, the seconds in which it refills.
func appendPolicy(b []byte, d *Decision, _ bool) []byte {
	l := d.Limit
	b = strconv.AppendInt(append(b, ";q="...), l.Capacity(), 10)
	return strconv.AppendInt(append(b, ";w="...), seconds(l.refill()), 10)
}

// appendLimit appends r, what is left, and t, the seconds until there is more or,
// where denied, enough.
func appendLimit(b []byte, d *Decision, denied bool) []byte {
	b = strconv.AppendInt(append(b, ";r="...), d.Remaining, 10)
	wait := d.NextAfter
	if denied {
		wait = d.RetryAfter
	}
	if wait == Never {
		return b
	}
	return strconv.AppendInt(append(b, ";t="...), seconds(wait), 10)
}

func appendPartition(b, secret, key []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(key)
	b = append(b, ";pk=:"...)
	b = base64.StdEncoding.AppendEncode(b, mac.Sum(nil)[:16])
	return append(b, ':')
}

// refill returns the time in which a bucket's capacity refills, or the window.
func (l Limit) refill() time.Duration {
	return time.Duration(algorithm.MulDivUp(l.Capacity(), int64(l.Window), l.Quota))
}

// retryHeader writes Retry-After: the longest wait of the policies that denied,
// with jitter, or what is there if that is longer.
func (t *Ticket) retryHeader(prior func(string) string) {
	d := &t.decisions[t.binding]
	if d.Fits || d.RetryAfter == Never {
		return
	}
	wait := d.RetryAfter
	if jitter := t.limiter.headers.Jitter; jitter > 0 {
		wait += rand.N(jitter + 1)
	}
	t.retry = max(1, seconds(wait))
	if before := prior(retryAfter); before != "" {
		if n, err := strconv.ParseInt(before, 10, 64); err == nil && n > t.retry {
			t.retry = n
		}
	}
	t.setInt(retryAfter, t.retry)
}

// seconds returns a wait in whole seconds, rounded up.
func seconds(d time.Duration) int64 { return ceil(int64(d), int64(time.Second)) }

// ceil divides, rounding up.
func ceil(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}
