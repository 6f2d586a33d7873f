package stacktest_test

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// failure is a way for a server to fail.
type failure struct {
	name    string
	url     string // of who stands in for the server; "" means the server itself
	begin   func() // after a request that was well
	timeout time.Duration
	says    string // what an operator is told
}

// A failed store is no denial, and clients are not told what is behind the app.
func TestFailuresAreNoDenials(t *testing.T) {
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	do := func(args ...string) func() {
		return func() {
			t.Helper()
			if _, err := server.Do(args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	const short = 100 * time.Millisecond // where nothing comes
	for _, f := range []failure{
		{"refused", "", func() { proxy.Refuse(); proxy.Cut() }, enough, ""},
		{"black hole", "", proxy.BlackHole, short, "in time"},
		{"lost reply", "", func() { proxy.DropReplies(100, "evalsha") }, short, "in time"},
		{"no reply", "", func() { proxy.CutReplies(100, 0, "evalsha") }, enough, "EOF"},
		{"cut reply", "", func() { proxy.CutReplies(100, 20, "evalsha") }, enough, "EOF"},
		{"wrong type", "", func() {
			for _, key := range stored(t, server) {
				do("DEL", key)()
				do("RPUSH", key, "a")()
			}
		}, enough, "RATELIMIT"},
		{"out of memory", "", do("CONFIG", "SET", "maxmemory", "1"), enough, "OOM"},
		{"read-only", "", do("REPLICAOF", "127.0.0.1", "1"), short, ""},
		{"loading", impostor(t, "-LOADING Redis is loading the dataset in memory\r\n"), nil, short, ""},
		{"password", impostor(t, "-NOAUTH Authentication required.\r\n"), nil, enough, "NOAUTH"},
		{"moved", impostor(t, "-MOVED 1 127.0.0.1:6379\r\n"), nil, enough, "MOVED"},
		{"another reply", impostor(t, "$5\r\nredis\r\n"), nil, enough, ""},
		{"no reply at all", impostor(t, "HTTP/1.1 400 Bad Request\r\nServer: redis\r\n\r\n"), nil, enough, ""},
	} {
		t.Run(f.name, func(t *testing.T) {
			for _, mode := range []ratelimit.FailureMode{ratelimit.FailOpen, ratelimit.FailClosed, ratelimit.FailLocal} {
				f.test(t, "redis://"+proxy.Addr(), mode)
				proxy.Pass()
				do("CONFIG", "SET", "maxmemory", "0")()
				do("REPLICAOF", "NO", "ONE")()
				do("FLUSHALL")()
			}
		})
	}
}

func (f failure) test(t *testing.T, url string, mode ratelimit.FailureMode) {
	t.Helper()
	if f.url != "" {
		url = f.url
	}
	i := newInstance(t, url, layers{timeout: f.timeout, openFor: time.Millisecond})
	app := app(i.configured(t, ratelimit.Config{
		Policies:  []ratelimit.Policy{{Name: "p", Limit: ratelimit.Per(10, ages)}},
		OnFailure: mode, Fallback: ratelimit.NewMemory(ratelimit.MemoryConfig{}), Share: 0.5,
	}))
	if f.begin != nil {
		for end := time.Now().Add(patience); get(app).Header().Get("X-RateLimit-Limit") != "10"; {
			if time.Now().After(end) {
				t.Fatal("it was never well")
			}
		}
		i.tally.forget()
		f.begin()
	}
	w := get(app)

	status, body, limit := http.StatusOK, "hello", ""
	switch mode {
	case ratelimit.FailClosed:
		status, body = http.StatusServiceUnavailable, `{"error":"unavailable"}`
	case ratelimit.FailLocal:
		limit = "5"
	}
	if got := w.Header().Get("X-RateLimit-Limit"); w.Code != status || w.Body.String() != body || got != limit {
		t.Errorf("mode %d: answered %d, %q, of a limit of %q, want %d, %q, %q", mode, w.Code, w.Body, got, status, body, limit)
	}
	text := strings.ToLower(fmt.Sprint(w.Body, w.Header()))
	for _, secret := range []string{"127.0.0.1", strings.TrimPrefix(url, "redis://"), "redis", "rl:", "script", "oom"} {
		if strings.Contains(text, secret) {
			t.Errorf("mode %d: the client is told %q: %s", mode, secret, text)
		}
	}
	if told := i.tally.forget(); len(told) != 1 || !strings.Contains(told[0], f.says) {
		t.Errorf("mode %d: the operator is told %q, want one error with %q", mode, told, f.says)
	}
}

// forget returns the failures that were reported, and forgets them.
func (y *tally) forget() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	defer clear(y.causes)
	return slices.Collect(maps.Keys(y.causes))
}

// impostor returns the URL of a server that gives one answer to whatever it is sent.
func impostor(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		wg.Wait() // its clients have closed their connections
	})
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				for b := make([]byte, 64<<10); ; {
					if _, err := conn.Read(b); err != nil {
						return
					}
					if _, err := conn.Write([]byte(answer)); err != nil {
						return
					}
				}
			})
		}
	})
	return "redis://" + l.Addr().String()
}
