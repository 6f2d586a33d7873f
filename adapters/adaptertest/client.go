package adaptertest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// client talks to an app over connections that it keeps alive.
type client struct {
	t    *testing.T
	http *http.Client
	wire *http.Transport
}

// newClient returns a client whose every request goes to addr, whatever its URL
// says. conns bounds its connections; 0 does not.
func newClient(t *testing.T, addr net.Addr, conns int) *client {
	c := &client{t: t}
	c.wire = &http.Transport{
		MaxConnsPerHost:     conns,
		MaxIdleConnsPerHost: 128,
		DisableCompression:  true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, addr.Network(), addr.String())
		},
	}
	t.Cleanup(c.wire.CloseIdleConnections)
	c.http = &http.Client{Transport: c.wire, Timeout: 30 * time.Second}
	return c
}

// speakHTTP2 makes a client that has sent nothing yet speak HTTP/2, without TLS.
func (c *client) speakHTTP2() {
	c.wire.Protocols = new(http.Protocols)
	c.wire.Protocols.SetUnencryptedHTTP2(true)
}

// request makes a request; each header is a "Name: value" line.
func (c *client) request(method, path, body string, headers ...string) *http.Request {
	c.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, "http://app.test"+path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		req.Header.Add(name, strings.TrimPrefix(value, " "))
	}
	return req
}

func (c *client) do(method, path string, headers ...string) *answer {
	c.t.Helper()
	return c.send(c.request(method, path, "", headers...))
}

func (c *client) get(path string, headers ...string) *answer {
	c.t.Helper()
	return c.do(http.MethodGet, path, headers...)
}

// send sends the request, reads the answer, and checks what holds for every one.
// It may be called from other goroutines than the test's.
func (c *client) send(req *http.Request) *answer {
	c.t.Helper()
	a := &answer{t: c.t, name: req.Method + " " + req.URL.RequestURI()}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Errorf("%s: %v", a.name, err)
		return a
	}
	a.read(resp)
	return a
}

// read reads the response, and checks what holds for every one.
func (a *answer) read(resp *http.Response) {
	a.t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Errorf("%s: reading the body: %v", a.name, err)
	}
	a.status, a.header, a.body = resp.StatusCode, resp.Header, string(body)
	a.sound()
}

// answer is a response, read to its end.
type answer struct {
	t      *testing.T
	name   string
	status int
	header http.Header
	body   string
}

// headers is what a limiter says, by canonical name.
type headers map[string]string

// told returns what the answer says of limits, and how an answer of the limiter's
// own presents itself. Lines of one header are joined as nothing else would be.
func (a *answer) told() headers {
	told := make(headers)
	for name, lines := range a.header {
		own := a.status >= 400 && (name == "Content-Type" || name == "Content-Length")
		if own || isLimit(name) || name == "Cache-Control" {
			told[name] = strings.Join(lines, " || ")
		}
	}
	return told
}

func isLimit(name string) bool {
	return strings.HasPrefix(name, "X-Ratelimit") || strings.HasPrefix(name, "Ratelimit") || name == "Retry-After"
}

// is checks status and body, and that the answer tells exactly want.
func (a *answer) is(status int, body string, want headers) {
	a.t.Helper()
	if a.status != status || a.body != body {
		a.t.Errorf("%s: got %d %q, want %d %q", a.name, a.status, a.body, status, body)
	}
	if got := a.told(); !maps.Equal(got, want) {
		a.t.Errorf("%s: told\n%s\nwant\n%s", a.name, got, want)
	}
}

// left checks that the request was admitted, with that many units remaining.
func (a *answer) left(remaining int) {
	a.t.Helper()
	if got := a.header.Get("X-RateLimit-Remaining"); a.status != http.StatusOK || got != strconv.Itoa(remaining) {
		a.t.Errorf("%s: got %d with %q left, want 200 with %d", a.name, a.status, got, remaining)
	}
}

// denied checks that the request was denied by a limiter.
func (a *answer) denied() {
	a.t.Helper()
	if a.status != http.StatusTooManyRequests {
		a.t.Errorf("%s: got %d with %q left, want 429", a.name, a.status, a.header.Get("X-RateLimit-Remaining"))
	}
}

// untold checks that the answer has that status and tells of no limit.
func (a *answer) untold(status int) {
	a.t.Helper()
	told := a.told()
	maps.DeleteFunc(told, func(name, _ string) bool { return !isLimit(name) })
	if a.status != status || len(told) > 0 {
		a.t.Errorf("%s: got %d telling\n%s\nwant %d telling nothing", a.name, a.status, told, status)
	}
}

func (h headers) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(&b, "  %s: %s\n", name, h[name])
	}
	return b.String()
}

// sound checks what holds for every answer, whatever the case.
func (a *answer) sound() {
	a.t.Helper()
	for name, lines := range a.header {
		if isLimit(name) && len(lines) != 1 {
			a.t.Errorf("%s: %s stands %d times", a.name, name, len(lines))
		}
	}
	retry, ok := a.header["Retry-After"]
	if ok && (a.status != http.StatusTooManyRequests || !regexp.MustCompile(`^[1-9][0-9]*$`).MatchString(retry[0])) {
		a.t.Errorf("%s: status %d with Retry-After %q", a.name, a.status, retry)
	}
	if a.status == http.StatusTooManyRequests && a.header.Get("Cache-Control") != "no-store" {
		a.t.Errorf("%s: a denial may be cached", a.name)
	}
	if a.header.Get("X-RateLimit-Limit") == "" {
		return
	}
	limit, err1 := strconv.ParseInt(a.header.Get("X-RateLimit-Limit"), 10, 64)
	left, err2 := strconv.ParseInt(a.header.Get("X-RateLimit-Remaining"), 10, 64)
	if err1 != nil || err2 != nil || left < 0 || left > limit {
		a.t.Errorf("%s: %q of %q left", a.name, a.header.Get("X-RateLimit-Remaining"), a.header.Get("X-RateLimit-Limit"))
	}
}
