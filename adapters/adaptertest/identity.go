package adaptertest

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// identity: who is counted, and what of a request the limiter is shown.
func identity() []testCase {
	return []testCase{
		{name: "what a key function sees", run: whatKeysSee},
		{name: "white space around a key", run: spacedKey},
		{name: "requests without a key", run: withoutKey},
		{name: "a forged X-Forwarded-For", run: forgedHeader},
		{name: "a trusted proxy", run: trustedProxy},
		{name: "a unix socket", run: unixSocket},
		{name: "malformed headers are answered", run: malformed},
	}
}

// seen is what a key function saw of a request, in memory of its own.
type seen struct {
	Method, Host, Path, Route, RawQuery    string
	Many                                   [2]string
	Third, Missing                         bool
	Cookie, Query, PathValue, NoValue, Key string
	Length                                 int64
	LengthKnown, Native, Loopback          bool
}

func whatKeysSee(s *suite) {
	var got seen
	look := func(dst []byte, r ratelimit.Request) ([]byte, error) {
		got = seen{
			Method: r.Method(), Host: r.Host(), Path: r.Path(), Route: r.Route(), RawQuery: r.RawQuery(),
			PathValue: r.PathValue("id"), NoValue: r.PathValue("other"), Key: r.Header("x-api-key"),
		}
		got.Many[0], _ = r.HeaderLine("X-Many", 0)
		got.Many[1], _ = r.HeaderLine("X-Many", 1)
		_, got.Third = r.HeaderLine("X-Many", 2)
		_, got.Missing = r.HeaderLine("X-Missing", 0)
		got.Cookie, _ = r.Cookie("session")
		got.Query, _ = r.Query("q")
		got.Length, got.LengthKnown = r.ContentLength()
		got.Native = r.Native() != nil
		got.Loopback = r.Peer().Addr().IsLoopback() && r.Peer().Port() != 0
		for _, text := range []*string{
			&got.Method, &got.Host, &got.Path, &got.Route, &got.RawQuery, &got.Many[0], &got.Many[1],
			&got.Cookie, &got.Query, &got.PathValue, &got.NoValue, &got.Key,
		} {
			*text = strings.Clone(*text)
		}
		return append(dst, 'k'), nil
	}
	limiter := s.limits(ratelimit.Policy{Name: "api", Limit: ratelimit.PerMinute(9), Key: look})
	c := s.serve(App{Routes: []Route{{
		Method: http.MethodPost, Pattern: "/users/{id}/posts", Use: []Middleware{{Limiter: limiter}},
	}}})

	req := c.request(http.MethodPost, "/users/a%20b/posts?q=x%20y&q=z", "hello",
		"X-Many: one", "X-Many: two, three", "Cookie: theme=dark; session=abc", "X-Api-Key: secret")
	req.Host = "api.test:81"
	c.send(req).left(8)
	want := seen{
		Method: "POST", Host: "api.test:81", Path: "/users/a b/posts", Route: s.adapter.Pattern("/users/{id}/posts"),
		RawQuery: "q=x%20y&q=z", Many: [2]string{"one", "two, three"}, Cookie: "abc", Query: "x y", PathValue: "a b",
		Key: "secret", Length: 5, LengthKnown: true, Native: true, Loopback: true,
	}
	if got != want {
		s.Errorf("saw\n%+v\nwant\n%+v", got, want)
	}

	chunked := c.request(http.MethodPost, "/users/1/posts", "hello")
	chunked.ContentLength = -1
	c.send(chunked).left(7)
	if got.LengthKnown {
		s.Errorf("a chunked body's length is known: %d", got.Length)
	}
	c.do(http.MethodPost, "/users/1/posts").left(6)
	if got.Length != 0 || !got.LengthKnown {
		s.Errorf("no body: length %d, known %t", got.Length, got.LengthKnown)
	}
}

// White space around a header's value is no part of it (RFC 9110, 5.5): with it, a
// client would have as many quotas as it can write tabs.
func spacedKey(s *suite) {
	values := []string{"k", "k\t", "k \t", "k\t\t ", "\tk", " \t k", "\t k\t "}
	addr := s.listen("tcp", "127.0.0.1:0", one(s.limits(byKey("key", ratelimit.PerMinute(int64(len(values)))))))
	conn := s.dial(addr)
	for i, value := range values {
		// net/http's client would trim the value.
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: app.test\r\nX-Api-Key: "+value+"\r\n\r\n"); err != nil {
			s.Fatal(err)
		}
		resp, err := http.ReadResponse(conn.reader, nil)
		if err != nil {
			s.Fatal(err)
		}
		a := &answer{t: s.T, name: strconv.Quote(value)}
		a.read(resp)
		a.left(len(values) - 1 - i)
	}
}

func withoutKey(s *suite) {
	shared := byKey("shared", ratelimit.PerMinute(1))
	skipped, denied := shared, shared
	skipped.Name, skipped.NoKey = "skipped", ratelimit.NoKeySkip
	denied.Name, denied.NoKey = "denied", ratelimit.NoKeyDeny
	c := s.serve(App{Routes: []Route{
		{Pattern: "/shared", Use: []Middleware{{Limiter: s.limits(shared)}}},
		{Pattern: "/skipped", Use: []Middleware{{Limiter: s.limits(skipped)}}},
		{Pattern: "/denied", Use: []Middleware{{Limiter: s.limits(denied)}}},
	}})

	c.get("/shared").left(0)
	c.get("/shared").denied()
	c.get("/shared", "X-Api-Key: a").left(0)
	for range 3 {
		c.get("/skipped").untold(http.StatusOK)
	}
	c.get("/denied").denied()
	if _, ok := c.get("/denied").header["Retry-After"]; ok {
		s.Error("a request denied for want of a key is told to retry")
	}
	c.get("/denied", "X-Api-Key: a").left(0)
}

func forgedHeader(s *suite) {
	limiter := s.limits(ratelimit.Policy{Name: "ip", Limit: ratelimit.PerMinute(30), Key: keyfuncs.ClientIP()})
	c := s.serve(one(limiter))
	names := []string{"X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP"}
	for i := range 30 {
		forged := strconv.Itoa(i) + ".0.2.1"
		c.get("/", names[i%len(names)]+": "+forged, "X-Forwarded-For: "+forged).left(29 - i)
	}
	c.get("/", "X-Forwarded-For: 198.51.100.1").denied()

	// The peer is private, so it may be a proxy that nobody named: that is said, once.
	if got := s.codes.all(); !slices.Equal(got, []ratelimit.Code{ratelimit.CodeUntrustedProxy}) {
		s.Errorf("said of the set-up: %q, want %q once", got, ratelimit.CodeUntrustedProxy)
	}
}

func trustedProxy(s *suite) {
	key := keyfuncs.ClientIP(keyfuncs.TrustProxies("127.0.0.0/8", "10.0.0.0/8"))
	c := s.serve(one(s.limits(ratelimit.Policy{Name: "ip", Limit: ratelimit.PerMinute(4), Key: key})))

	c.get("/", "X-Forwarded-For: 203.0.113.7").left(3)
	c.get("/", "X-Forwarded-For: 198.51.100.1, 203.0.113.7").left(2) // what the client sent is to the left
	c.get("/", "X-Forwarded-For: 198.51.100.2", "X-Forwarded-For: 203.0.113.7, 10.1.2.3").left(1)
	c.get("/", "X-Forwarded-For: 203.0.113.7", "X-Forwarded-For: 10.9.9.9", "X-Forwarded-For: ").left(0)
	c.get("/", "X-Forwarded-For: ::ffff:203.0.113.7").denied()
	c.get("/", "X-Forwarded-For: 203.0.113.8").left(3)
}

func unixSocket(s *suite) {
	limits := s.limits(ratelimit.Policy{Name: "ip", Limit: ratelimit.PerMinute(2), Key: keyfuncs.ClientIP()})
	trusting := limits.With(ratelimit.Policy{
		Name: "trusting", Limit: ratelimit.PerMinute(1), Key: keyfuncs.ClientIP(keyfuncs.TrustUnixSocket()),
	})
	addr := s.listen("unix", filepath.Join(s.TempDir(), "app.sock"), App{Routes: []Route{
		{Pattern: "/", Use: []Middleware{{Limiter: limits}}},
		{Pattern: "/trusting", Use: []Middleware{{Limiter: trusting}}},
	}})
	c := newClient(s.T, addr, 1)

	c.get("/", "X-Forwarded-For: 203.0.113.1").left(1) // no address, no trust: all share a bucket
	c.get("/", "X-Forwarded-For: 203.0.113.2").left(0)
	c.get("/", "X-Forwarded-For: 203.0.113.3").denied()
	c.get("/trusting", "X-Forwarded-For: 203.0.113.1").left(0)
	c.get("/trusting", "X-Forwarded-For: 203.0.113.1").denied()
	c.get("/trusting", "X-Forwarded-For: 203.0.113.2").left(0)
}

func malformed(s *suite) {
	trusting := keyfuncs.ClientIP(keyfuncs.TrustProxies("127.0.0.0/8"))
	forwarded := keyfuncs.ClientIP(keyfuncs.TrustProxies("127.0.0.0/8"), keyfuncs.FromHeader("Forwarded"))
	cookie := keyfuncs.Func(func(r ratelimit.Request) string { v, _ := r.Cookie("session"); return v })
	query := keyfuncs.Func(func(r ratelimit.Request) string { v, _ := r.Query("q"); return v })
	var policies []ratelimit.Policy
	for i, key := range []ratelimit.KeyFunc{trusting, forwarded, cookie, query, keyfuncs.APIKey("X-Api-Key")} {
		policies = append(policies, ratelimit.Policy{Name: "p" + strconv.Itoa(i), Limit: ratelimit.PerMinute(1000), Key: key})
	}
	c := s.serve(one(s.limits(policies...)))

	values := []string{
		"", " ", ",", ",,,,", ";", ";;=;", "=", "@", "-", "unknown", "\xff\xfe", "a\tb", `"`, `""`, `"1.2.3.4`, "[", "]", "[]", "[::1", "::1]", "[::1]:", "[::1]:99999",
		"1.2.3.4:", "1.2.3.4:-1", "1.2.3.4.5", "01.2.3.4", "1.2.3", "::ffff:1.2.3.4", "fe80::1%", "fe80::1%eth0", "for=", `for="`, `for="[::1`, `for=_hidden;for=1.2.3.4`, "for=unknown, for=1.2.3.4",
		"session", "session=", `session="`, "session=\xff", "%", "%zz", string(bytes.Repeat([]byte("1.2.3.4, "), 200)), strings.Repeat("[", 2000),
	}
	for _, value := range values {
		for _, name := range []string{"X-Forwarded-For", "Forwarded", "Cookie", "X-Api-Key", "Origin", "Access-Control-Request-Method"} {
			if a := c.get("/", name+": "+value); a.status != http.StatusOK {
				s.Errorf("%s: %.40q: %d %s", name, value, a.status, a.body)
			}
		}
	}
	for _, query := range []string{"?q", "?q=", "?q=%", "?q=%zz", "?%zz=%", "?&&&=;", "?q=%00", "?q=%ff", "?" + strings.Repeat("q&", 500)} {
		if a := c.get("/" + query); a.status != http.StatusOK {
			s.Errorf("%.40q: %d %s", query, a.status, a.body)
		}
	}
}
