package adaptertest

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// load: many requests, one after the other and at once.
func load() []testCase {
	return []testCase{
		{name: "40 keys over one connection", run: manyKeys},
		{name: "100 at once, limit 50", run: exactlyFifty},
		{name: "handlers run side by side", run: sideBySide},
	}
}

// Frameworks that recycle a request's memory show here whether a key outlived it.
func manyKeys(s *suite) {
	const keys, rounds = 40, 10
	addr := s.listen("tcp", "127.0.0.1:0", one(s.limits(byKey("key", ratelimit.PerMinute(rounds)))))
	c := newClient(s.T, addr, 1)
	c.http.Transport = s.dial(addr)
	for round := range rounds {
		for key := range keys {
			c.get("/", "X-Api-Key: key-"+strconv.Itoa(key)).left(rounds - 1 - round)
		}
	}
	for key := range keys {
		c.get("/", "X-Api-Key: key-"+strconv.Itoa(key)).denied()
	}
}

func exactlyFifty(s *suite) {
	var ran atomic.Int64
	addr := s.listen("tcp", "127.0.0.1:0", App{
		Use:    []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(50)))}},
		Routes: []Route{{Pattern: "/", Enter: func() { ran.Add(1) }}},
	})
	allowed, denied := newClient(s.T, addr, 0).atOnce(100)
	if allowed != 50 || denied != 50 || ran.Load() != 50 {
		s.Errorf("%d allowed, %d denied, the handler ran %d times; want 50 of each", allowed, denied, ran.Load())
	}
}

// atOnce sends n requests at once and counts the answers.
func (c *client) atOnce(n int) (allowed, denied int64) {
	c.t.Helper()
	var ok, over atomic.Int64
	var wg sync.WaitGroup
	for range n {
		req := c.request(http.MethodGet, "/", "")
		wg.Go(func() {
			switch c.send(req).status {
			case http.StatusOK:
				ok.Add(1)
			case http.StatusTooManyRequests:
				over.Add(1)
			}
		})
	}
	wg.Wait()
	return ok.Load(), over.Load()
}

// No lock is held over a handler: all of them are inside at once.
func sideBySide(s *suite) {
	const n = 20
	var inside sync.WaitGroup
	inside.Add(n)
	all := make(chan struct{})
	go func() { inside.Wait(); close(all) }()
	addr := s.listen("tcp", "127.0.0.1:0", App{
		Use: []Middleware{{Limiter: s.limits(forAll("api", ratelimit.PerMinute(n)))}},
		Routes: []Route{{Pattern: "/", Enter: func() {
			inside.Done()
			select {
			case <-all:
			case <-s.Context().Done():
			}
		}}},
	})
	if allowed, _ := newClient(s.T, addr, 0).atOnce(n); allowed != n {
		s.Errorf("%d allowed, want %d", allowed, n)
	}
}
