package redisstore

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// Calls that wait fail, those that were sent end, and later ones are refused.
func TestClose(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	client := single(t, proxy.Addr())
	s := storeOf(t, client, Config{Timeout: 4 * time.Second})
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	charges := []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}
	take(t, s, charges...)

	proxy.BlackHole()
	const waiting = 50
	errs := make(chan error, maxPipelines+waiting)
	ask := func() { errs <- s.Take(t.Context(), charges, make([]ratelimit.Result, 1)) }
	var wg sync.WaitGroup
	occupy(t, &s.dispatcher, &wg, ask)
	for range waiting {
		wg.Go(ask)
	}
	until(t, func() bool { return s.dispatcher.load() == load{waiting, maxPipelines} })
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	close(errs)
	closed := 0
	for err := range errs {
		switch {
		case err == nil:
			t.Error("no error out of a black hole")
		case errors.Is(err, redis.ErrClosed):
			closed++
		}
	}
	if closed != waiting {
		t.Errorf("%d calls failed since the store was closed, want the %d that waited", closed, waiting)
	}

	proxy.Pass()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the caller's client after Close: %v", err)
	}
	for name, err := range map[string]error{
		"Take":   s.Take(t.Context(), charges, make([]ratelimit.Result, 1)),
		"Adjust": s.Adjust(t.Context(), []ratelimit.Adjustment{{Op: ratelimit.Reset, Space: p.space, Key: []byte("k")}}),
	} {
		if !errors.Is(err, redis.ErrClosed) {
			t.Errorf("%s after Close: %v, want redis.ErrClosed", name, err)
		}
	}
}

func TestCloseEndsItsOwnClient(t *testing.T) {
	server := redistest.Start(t)
	s, err := Open(server.URL(), Config{Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	take(t, s, p.charge("k", 1, ratelimit.Enforce))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.client.Ping(t.Context()).Err(); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("ping after Close: %v", err)
	}
}

// Neither New nor Open connects, so an app starts while its server is down.
func TestMadeWhileDown(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	proxy.Refuse()
	for name, url := range map[string]string{
		"single":   "redis://" + proxy.Addr(),
		"cluster":  "redis+cluster://" + proxy.Addr(),
		"sentinel": "redis+sentinel://" + proxy.Addr() + "?master_name=main",
	} {
		s, err := Open(url, Config{})
		if err != nil {
			t.Fatal(err)
		}
		p := policyOf(t, s, "p", ratelimit.PerHour(1000))
		if s.Take(t.Context(), []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}, make([]ratelimit.Result, 1)) == nil {
			t.Errorf("%s: no error while the server is down", name)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := Open("redis://"+proxy.Addr(), Config{Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	proxy.Pass()
	take(t, s, p.charge("k", 1, ratelimit.Enforce))
}

func TestConfigErrors(t *testing.T) {
	var none *redis.Client
	_, err := New(none, Config{Prefix: "a{b}", Timeout: time.Hour})
	want := []string{
		"ratelimit: client is required",
		`ratelimit: Prefix must have at most 64 bytes and no braces, is "a{b}"`,
		"ratelimit: Timeout must be 1ms to 1m0s, is 1h0m0s",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
	for _, c := range []Config{{Prefix: strings.Repeat("p", 65)}, {Timeout: -1}, {Timeout: time.Microsecond}} {
		if _, err := New(single(t, "localhost:1"), c); !errors.As(err, new(*ratelimit.ConfigError)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The error is told to whoever starts the app: it must not show the password.
func TestURLErrors(t *testing.T) {
	for _, url := range []string{
		"", "localhost:6379", "http://user:secret@localhost", "redis+ring://user:secret@localhost",
		"redis://user:secret@localhost/x", "redis://user:secret@local host", "redis://:secret/@localhost:1",
		"unix+cluster://user:secret@/tmp/s", "redis+sentinel://user:secret@localhost",
		"redis+sentinel://user:secret@localhost?master_name=m&route_randomly=true", "redis://user:secret@localhost?unknown=1",
		"redis+cluster://user:secret@localhost?addr=nowhere",
		"redis", "redis://", "redis://h/-1", "redis://h?pool_size=-3", "redis://h?dial_timeout=-5s", "redis+cluster://h/3",
		"redis://:123/secret@host", "redis://:12?secret@host", "redis+sentinel://:12/secret@h", "redis+cluster://:12?secret@h",
	} {
		s, err := Open(url, Config{})
		var wrong *ratelimit.ConfigError
		if s != nil || !errors.As(err, &wrong) || wrong.Field != "url" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	_, err := Open("http://localhost", Config{Timeout: -1})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v, want the mistake in the URL and that in the configuration", err)
	}
}

// A client of the store's own honours deadlines and retries nothing. What the URL sets
// is kept.
func TestOpenedClients(t *testing.T) {
	for url, check := range map[string]func(redis.UniversalClient) bool{
		"rediss://user:pw@host:1/2?read_timeout=3s": func(c redis.UniversalClient) bool {
			o := c.(*redis.Client).Options()
			return o.Addr == "host:1" && o.DB == 2 && o.TLSConfig != nil && o.ReadTimeout == 3*time.Second &&
				o.ContextTimeoutEnabled && o.MaxRetries == 0 && o.DialTimeout == time.Second && o.PoolTimeout == 50*time.Millisecond
		},
		"unix:///tmp/s?db=3": func(c redis.UniversalClient) bool {
			o := c.(*redis.Client).Options()
			return o.Network == "unix" && o.Addr == "/tmp/s" && o.DB == 3 && o.ContextTimeoutEnabled
		},
		"redis+cluster://a:1?addr=b:2": func(c redis.UniversalClient) bool {
			o := c.(*redis.ClusterClient).Options()
			return strings.Join(o.Addrs, " ") == "a:1 b:2" && o.ContextTimeoutEnabled && o.MaxRedirects > 0
		},
		"redis+sentinel://a:1?master_name=m&db=4": func(c redis.UniversalClient) bool {
			o := c.(*redis.Client).Options()
			return o.Addr == "FailoverClient" && o.DB == 4 && o.ContextTimeoutEnabled && o.MaxRetries == 0
		},
	} {
		s, err := Open(url, Config{Timeout: 50 * time.Millisecond})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if !check(s.client) {
			t.Errorf("%s made another client: %v", url, s.client)
		}
		s.Close()
	}
}

func TestClientTimeoutReported(t *testing.T) {
	for name, honoured := range map[string]bool{"deadlines honoured": true, "deadlines ignored": false} {
		single := redis.NewClient(&redis.Options{ContextTimeoutEnabled: honoured})
		cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"localhost:1"}, ContextTimeoutEnabled: honoured})
		ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "localhost:1"}, ContextTimeoutEnabled: honoured, HeartbeatFrequency: time.Hour})
		for _, client := range []redis.UniversalClient{single, cluster, ring} {
			seen := new(recorder)
			storeOf(t, client, Config{Observer: seen}).Close()
			client.Close()
			switch r := seen.reports; {
			case honoured && len(r) > 0:
				t.Errorf("%s, %T: reported %+v", name, client, r)
			case !honoured && (len(r) != 1 || r[0].Kind != ratelimit.ReportMisconfigured || r[0].Code != ratelimit.CodeClientTimeout || r[0].Detail == ""):
				t.Errorf("%s, %T: reported %+v", name, client, r)
			}
		}
	}
}
