package ratelimit

import (
	"context"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Text names a part of a request that is text.
type Text uint8

// The parts of a request. Only TextHeader and TextPathValue use the name, and
// only TextHeader the index.
const (
	TextMethod        Text = iota
	TextHost               // as sent: may carry a port
	TextPath               // decoded
	TextRoute              // the matched route's pattern, such as "/users/{id}"; none before routing
	TextRawQuery           // undecoded, without "?"
	TextHeader             // the i-th line of the header called name, in any case
	TextPathValue          // the path parameter called name
	TextContentLength      // of the body, decimal; none where it is not known
)

// View is what an adapter shows of its framework's request. An adapter answers
// false to a Text that it does not have; more kinds may come.
type View interface {
	Context() context.Context
	Peer() netip.AddrPort                              // of the connection; the zero AddrPort where it has no address
	Text(what Text, name string, i int) (string, bool) // valid until the ticket's End
	Value(key any) any                                 // what the app stored with the request
	Native() any                                       // the framework's own request
}

// Request is one request as key and cost functions see it. It is a small value,
// to be passed on but not kept: its strings may be the framework's own memory and
// are valid until the request ends.
type Request struct {
	view    View
	limiter *Limiter
	policy  string
}

// NewRequest returns the request that v shows. Adapters do not need it, [Limiter.Begin]
// does it for them; tests of key functions do.
func NewRequest(v View) Request { return Request{view: v} }

// Context returns the request's context.
func (r Request) Context() context.Context { return r.view.Context() }

// Peer returns the address of the connection, which a client cannot forge but a
// proxy in front hides. It is invalid where there is none, as on a unix socket.
func (r Request) Peer() netip.AddrPort { return r.view.Peer() }

// Method returns the method, such as "GET".
func (r Request) Method() string { return r.text(TextMethod) }

// Host returns the host that the client asked for, with a port if it sent one; some
// frameworks put it in lower case.
func (r Request) Host() string { return r.text(TextHost) }

// Path returns the decoded path.
func (r Request) Path() string { return r.text(TextPath) }

// Route returns the pattern of the matched route, or "" where none matched yet.
func (r Request) Route() string { return r.text(TextRoute) }

// RawQuery returns the undecoded query, without "?".
func (r Request) RawQuery() string { return r.text(TextRawQuery) }

// Header returns the first line of the header called name, or "".
func (r Request) Header(name string) string {
	s, _ := r.view.Text(TextHeader, name, 0)
	return s
}

// HeaderLine returns the i-th line of the header called name, from 0, in the
// order sent, and whether there is one.
func (r Request) HeaderLine(name string, i int) (string, bool) {
	return r.view.Text(TextHeader, name, i)
}

// PathValue returns the path parameter called name, or "".
func (r Request) PathValue(name string) string {
	s, _ := r.view.Text(TextPathValue, name, 0)
	return s
}

// ContentLength returns the size of the body in bytes, and whether it is known.
func (r Request) ContentLength() (int64, bool) {
	s, ok := r.view.Text(TextContentLength, "", 0)
	if !ok {
		return 0, false // and no error of the parser's, which would allocate
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

// Value returns what the app stored with the request under key: a context value,
// or the framework's own.
func (r Request) Value(key any) any { return r.view.Value(key) }

// Native returns the framework's own request, such as *http.Request.
func (r Request) Native() any { return r.view.Native() }

func (r Request) text(what Text) string {
	s, _ := r.view.Text(what, "", 0)
	return s
}

// More of them net/http and net/url refuse altogether.
const (
	mostCookies    = 3000
	mostParameters = 10_000
	cookieSpace    = " \t\r\n" // what net/http trims
)

// Cookie returns the value of the first cookie called name, without quotes, and
// whether there is one. What net/http would pass over is passed over, so that a
// client cannot show the limiter one value and the app another.
func (r Request) Cookie(name string) (string, bool) {
	for i, n := 0, 0; ; i++ {
		line, ok := r.HeaderLine("Cookie", i)
		if !ok {
			return "", false
		}
		if n += strings.Count(line, ";") + 1; n > mostCookies {
			return "", false
		}
		for pair := range strings.SplitSeq(line, ";") {
			k, v, _ := strings.Cut(strings.Trim(pair, cookieSpace), "=")
			if strings.Trim(k, cookieSpace) != name {
				continue
			}
			if len(v) > 1 && v[0] == '"' && v[len(v)-1] == '"' {
				v = v[1 : len(v)-1]
			}
			if validCookie(v) {
				return v, true
			}
		}
	}
}

// validCookie reports whether net/http takes the value (RFC 6265, section 4.1.1,
// with spaces and commas).
func validCookie(v string) bool {
	for i := range len(v) {
		if c := v[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Query returns the first value of the query parameter called name, decoded, and
// whether there is one. What net/url refuses, be it undecodable or with a
// semicolon, is none, so that a client cannot show the limiter one value and the
// app another.
func (r Request) Query(name string) (string, bool) {
	query := r.RawQuery()
	if strings.Count(query, "&") >= mostParameters {
		return "", false
	}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" || strings.Contains(pair, ";") {
			continue
		}
		k, v, _ := strings.Cut(pair, "=")
		k, err := url.QueryUnescape(k) // allocates only where there is something to decode
		if err != nil || k != name {
			continue
		}
		if v, err = url.QueryUnescape(v); err == nil {
			return v, true
		}
	}
	return "", false
}

// Misconfigured tells the limiter's observer, once per code and policy, that the
// way this app is set up defeats a limit. Key functions call it; it is not for
// what a client does wrong.
func (r Request) Misconfigured(code Code, detail string) {
	if r.limiter != nil {
		r.limiter.misconfigured(r.Context(), r.policy, code, detail)
	}
}
