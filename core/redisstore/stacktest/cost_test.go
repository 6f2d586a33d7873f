package stacktest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// Once the connection is there, a request is one script call and nothing else, under one
// policy as under three, admitted or denied. So many bytes travel for it.
func TestOneCallARequest(t *testing.T) {
	policies := []ratelimit.Policy{
		{Name: "hour", Limit: ratelimit.PerHour(60)},
		{Name: "day", Limit: ratelimit.PerDay(1000)},
		{Name: "month", Limit: ratelimit.Per(10000, 30*24*time.Hour)},
	}
	for _, c := range []struct {
		policies  int
		out, back int64 // bytes, at most
	}{{1, 256, 128}, {3, 512, 320}} {
		t.Run(fmt.Sprint(c.policies), func(t *testing.T) {
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr())
			i := newInstance(t, "redis://"+proxy.Addr(), layers{timeout: enough, maxAge: time.Hour})
			app := app(i.limiter(t, policies[:c.policies]...))
			ask := func(address string, n, want int) {
				t.Helper()
				for range n {
					r := httptest.NewRequest(http.MethodGet, "/", nil)
					r.RemoteAddr = address + ":51514"
					w := httptest.NewRecorder()
					if app.ServeHTTP(w, r); w.Code != want {
						t.Fatalf("answered %d, want %d", w.Code, want)
					}
				}
			}
			ask("203.0.113.7", 10, 200)
			for _, round := range []struct {
				what     string
				requests int
				status   int
				calls    int64
			}{{"admitted", 50, 200, 50}, {"denied", 50, 429, 1}} { // the first denial; the cache knows the others
				server.ResetStats()
				requests, script := proxy.Requests(), proxy.Requests("evalsha")
				sent, got := proxy.Bytes()
				ask("203.0.113.7", round.requests, round.status)
				sentAfter, gotAfter := proxy.Bytes()
				out, back := (sentAfter-sent)/round.calls, (gotAfter-got)/round.calls
				if n := server.Commands()["evalsha"].Calls; n != round.calls {
					t.Errorf("%s: the server counted %d script calls for %d requests, want %d", round.what, n, round.requests, round.calls)
				}
				if n, all := proxy.Requests("evalsha")-script, proxy.Requests()-requests; int64(n) != round.calls || n != all {
					t.Errorf("%s: %d commands, of which %d are script calls, want %d", round.what, all, n, round.calls)
				}
				t.Logf("%s: %d bytes out, %d back for a decision", round.what, out, back)
				if out > c.out || back > c.back {
					t.Errorf("%s: %d bytes out, %d back for a decision, want at most %d and %d", round.what, out, back, c.out, c.back)
				}
			}
		})
	}
}

// What a key takes of the server's memory, after ten charges.
func TestServerBytesAKey(t *testing.T) {
	for _, c := range []struct {
		algorithm ratelimit.Algorithm
		most      int64
	}{
		{ratelimit.TokenBucket, 160},
		{ratelimit.GCRA, 160},
		{ratelimit.LeakyBucket, 160},
		{ratelimit.FixedWindow, 160},
		{ratelimit.SlidingCounter, 160},
		{ratelimit.SlidingLog, 350},
	} {
		server := redistest.Start(t)
		l := newInstance(t, server.URL(), layers{timeout: enough}).limiter(t,
			ratelimit.Policy{Name: "hour", Limit: ratelimit.PerHour(60).Using(c.algorithm)})
		for range 10 {
			allow(t, l, "203.0.113.7", 1)
		}
		keys := stored(t, server)
		if len(keys) != 1 || !strings.HasSuffix(keys[0], "203.0.113.7") {
			t.Fatalf("%v: stored are %q", c.algorithm, keys)
		}
		reply, err := server.Do("MEMORY", "USAGE", keys[0])
		if err != nil {
			t.Fatal(err)
		}
		bytes := number(t, reply)
		t.Logf("%v: %d bytes for %q", c.algorithm, bytes, keys[0])
		if bytes > c.most {
			t.Errorf("%v: %d bytes a key, want at most %d", c.algorithm, bytes, c.most)
		}
	}
}
