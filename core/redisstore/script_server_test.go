package redisstore

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// startRedis starts a server of the test's own, and skips the test where there is none
// on this machine.
func startRedis(t testing.TB) *redis.Client {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server")
	}
	socket := filepath.Join(t.TempDir(), "s")
	server := exec.Command(path, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", "/dev/null")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1})
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 500 {
		if err = client.Ping(t.Context()).Err(); err == nil {
			return client
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("redis-server does not answer: %v", err)
	return nil
}

// startMiniredis starts a server in this process, which has no struct library.
func startMiniredis(t testing.TB) *redis.Client {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// scripts is a store of nothing but the scripts: each call is one EVALSHA.
type scripts struct {
	client  *redis.Client
	spaces  *spaces
	encoder encoder
}

var opened atomic.Int64

// newScripts returns a store with keys of its own. What is tested here would hold for a
// *Store as well, made with
//
//	New(client, Config{Prefix: prefix, Now: now, Timeout: time.Minute})
func newScripts(client *redis.Client, now func() time.Time) *scripts {
	s := &scripts{client: client, spaces: &spaces{}}
	s.encoder = newEncoder(fmt.Sprintf("test%d:", opened.Add(1)), now, s.spaces)
	return s
}

func (s *scripts) Open(space *ratelimit.Space) error { return s.spaces.open(space) }

func (s *scripts) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := s.spaces.check(charges, results); err != nil || len(charges) == 0 {
		return err
	}
	var c call
	s.encoder.take(&c, charges, false)
	if err := s.run(ctx, &c); err != nil {
		return err
	}
	return decodeTake(c.reply, charges, results)
}

func (s *scripts) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	for i := range adjustments {
		if err := s.spaces.checkAdjustment(&adjustments[i]); err != nil {
			return err
		}
	}
	if len(adjustments) == 0 {
		return nil
	}
	var c call
	s.encoder.adjust(&c, adjustments)
	if err := s.run(ctx, &c); err != nil {
		return err
	}
	return decodeAdjust(c.reply, adjustments)
}

func (s *scripts) run(ctx context.Context, c *call) error {
	reply, err := s.client.EvalSha(ctx, c.script.sha, c.keys, c.arg).Text()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = s.client.Eval(ctx, c.script.text, c.keys, c.arg).Text()
	}
	c.reply = reply
	return err
}
