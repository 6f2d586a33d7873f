package adaptertest

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// suite is what a case has at hand.
type suite struct {
	*testing.T
	adapter Adapter
	clock   limittest.Clock
	codes   codes        // what the limiters said of the set-up
	ran     atomic.Int64 // how often a handler of the case did
	ends    *endings     // not nil: the limiters are asked how requests end
}

// limits returns a limiter in memory, on the case's clock.
func (s *suite) limits(policies ...ratelimit.Policy) *ratelimit.Limiter {
	return s.configured(ratelimit.Config{Policies: policies})
}

func (s *suite) configured(config ratelimit.Config) *ratelimit.Limiter {
	s.Helper()
	if config.Store == nil {
		config.Store = ratelimit.NewMemory(ratelimit.MemoryConfig{Now: s.clock.Now})
	}
	config.Observer = &s.codes
	if s.ends != nil {
		config.Observer = s.ends
	}
	limiter, err := ratelimit.New(config)
	if err != nil {
		s.Fatal(err)
	}
	return limiter
}

// serve serves the app on a TCP port and returns a client with one connection.
func (s *suite) serve(app App) *client {
	s.Helper()
	return newClient(s.T, s.listen("tcp", "127.0.0.1:0", app), 1)
}

func (s *suite) listen(network, addr string, app App) net.Addr {
	s.Helper()
	var config net.ListenConfig
	l, err := config.Listen(s.Context(), network, addr)
	if err != nil {
		s.Fatal(err)
	}
	s.adapter.Serve(s.T, app, l)
	return l.Addr()
}

// one is an app with one route, GET /, behind the limiter.
func one(limiter *ratelimit.Limiter) App {
	return App{Use: []Middleware{{Limiter: limiter}}, Routes: []Route{{Pattern: "/"}}}
}

// byKey is a policy that counts by the header X-Api-Key.
func byKey(name string, limit ratelimit.Limit) ratelimit.Policy {
	return ratelimit.Policy{Name: name, Limit: limit, Key: keyfuncs.Header("X-Api-Key")}
}

// forAll is a policy that counts everyone together.
func forAll(name string, limit ratelimit.Limit) ratelimit.Policy {
	return ratelimit.Policy{Name: name, Limit: limit, Key: keyfuncs.Everyone}
}

// codes is an observer that notes misconfigurations.
type codes struct {
	mu   sync.Mutex
	said []ratelimit.Code
}

// Decided implements [ratelimit.Observer].
func (c *codes) Decided(context.Context, []byte, ratelimit.Decision) {}

// Reported implements [ratelimit.Observer].
func (c *codes) Reported(_ context.Context, r ratelimit.Report) {
	if r.Kind == ratelimit.ReportMisconfigured {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said = append(c.said, r.Code)
	}
}

// all returns what was noted.
func (c *codes) all() []ratelimit.Code {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.said)
}
