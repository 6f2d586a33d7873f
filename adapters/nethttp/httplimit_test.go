package httplimit_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func get(h http.Handler) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w.Result()
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestLimitCountsForAllItWraps(t *testing.T) {
	limit := httplimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	a, b := limit(http.HandlerFunc(ok)), limit(http.HandlerFunc(ok))
	limittest.AssertAllowed(t, get(a))
	limittest.AssertAllowed(t, get(b))
	limittest.AssertDenied(t, get(a), 30*time.Minute)

	other := httplimit.Limit(ratelimit.PerHour(2), keyfuncs.Everyone)
	limittest.AssertAllowed(t, get(other(http.HandlerFunc(ok))))
}

func TestMistakesPanicAtStart(t *testing.T) {
	adaptertest.Panics(t, map[string]func(){
		"limit":   func() { httplimit.Limit(ratelimit.PerMinute(0), keyfuncs.Everyone) },
		"key":     func() { httplimit.Limit(ratelimit.PerMinute(1), nil) },
		"limiter": func() { httplimit.Middleware(nil) },
	})
}

// An option that is given nil changes nothing, whatever stood before.
func TestNilOptions(t *testing.T) {
	isProbe := func(r *http.Request) bool { return r.URL.Path == "/probe" }
	say := func(w http.ResponseWriter, _ *http.Request, _ ratelimit.Decision) { w.WriteHeader(http.StatusTeapot) }
	limiter := limittest.Deny(time.Minute).Limiter()
	none := httplimit.Middleware(limiter, httplimit.Skip(nil), httplimit.Denied(nil), httplimit.WithView(nil))
	limittest.AssertDenied(t, get(none(http.HandlerFunc(ok))), time.Minute)

	kept := httplimit.Middleware(limiter, httplimit.Skip(isProbe), httplimit.Denied(say), httplimit.Skip(nil), httplimit.Denied(nil))
	for path, want := range map[string]int{"/": http.StatusTeapot, "/probe": http.StatusOK} {
		w := httptest.NewRecorder()
		kept(http.HandlerFunc(ok)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: answered %d, want %d", path, w.Code, want)
		}
	}
}

func TestPanicKeepsItsStack(t *testing.T) {
	adaptertest.PassesPanic(t, func(explode func()) {
		h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { explode() })
		get(httplimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone)(h))
	})
}

// The values of all headers share one slice, which a handler may append to.
func TestHandlerMayAddToHeaders(t *testing.T) {
	add := func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			w.Header().Add(name, "added to "+name)
		}
	}
	h := httplimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone)(http.HandlerFunc(add)).ServeHTTP
	header := get(http.HandlerFunc(h)).Header
	for name, want := range map[string]string{"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "4"} {
		if got := header.Values(name); len(got) != 2 || got[0] != want || got[1] != "added to "+name {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What a handler, or a limiter further out, has said before still counts.
func TestDenyKeepsTheLongerRetryAfter(t *testing.T) {
	accounts := limittest.Deny(time.Minute).Limiter()
	for prior, want := range map[string]time.Duration{"120": 2 * time.Minute, "5": time.Minute, "": time.Minute, "soon": time.Minute} {
		limittest.AssertDenied(t, get(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if prior != "" {
				w.Header().Set("Retry-After", prior)
			}
			d, _ := accounts.Allow(r.Context(), "ann", 1)
			httplimit.Deny(w, r, d)
		})), want)
	}
}

func TestDeadlineEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{{
			Name: "slow", Limit: ratelimit.PerHour(1), Key: keyfuncs.Everyone, Over: ratelimit.Delay(time.Hour),
		}}})
		ran := 0
		h := httplimit.Middleware(limits)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ran++ }))
		limittest.AssertAllowed(t, get(h))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin, w := time.Now(), httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		if waited := time.Since(begin); waited != time.Minute || w.Code != http.StatusServiceUnavailable || ran != 1 {
			t.Errorf("answered %d after %v, %d runs; want 503 after a minute, 1 run", w.Code, waited, ran)
		}

		begin = time.Now()
		limittest.AssertAllowed(t, get(h)) // the place in the queue was given back
		if waited := time.Since(begin); waited != 59*time.Minute {
			t.Errorf("waited %v, want 59m", waited)
		}
	})
}

// What the package comment warns of: both are told, the limiter's first.
func TestProxyDoublesHeaders(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "9000")
	}))
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	resp := get(httplimit.Limit(ratelimit.PerMinute(2), keyfuncs.Everyone)(proxy))
	if got := resp.Header.Values("X-RateLimit-Limit"); !slices.Equal(got, []string{"2", "9000"}) {
		t.Errorf("X-RateLimit-Limit: %q, want the limiter's and the upstream's", got)
	}
}

// zipped is a response that compresses all that is written to it.
type zipped struct {
	http.ResponseWriter
	body io.Writer
}

func (z zipped) Write(p []byte) (int, error) { return z.body.Write(p) }

// Some middlewares announce the encoding before the handler has written anything.
func TestDenialPassesThroughCompression(t *testing.T) {
	deny := httplimit.Middleware(limittest.Deny(time.Minute).Limiter())(http.HandlerFunc(ok))
	resp := get(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		body := gzip.NewWriter(w)
		defer body.Close()
		deny.ServeHTTP(zipped{w, body}, r)
	}))
	limittest.AssertDenied(t, resp, time.Minute)
	if got := resp.Header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("Content-Encoding: %q", got)
	}
	plain, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(plain); err != nil || string(body) != `{"error":"rate_limit_exceeded","retry_after":60}` {
		t.Errorf("decoded %q, %v", body, err)
	}
}
