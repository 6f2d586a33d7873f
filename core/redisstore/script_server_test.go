package redisstore

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// startRedis starts a server of the test's own.
func startRedis(t testing.TB) *redis.Client {
	t.Helper()
	return single(t, redistest.Start(t).Addr())
}

// startMiniredis starts a server in this process, which has no struct library.
func startMiniredis(t testing.TB) *redis.Client {
	t.Helper()
	return single(t, miniredis.RunT(t).Addr())
}

var made atomic.Int64

// storeOn returns a store with keys of its own, and time enough. Where now is nil the
// server's clock counts.
func storeOn(t testing.TB, client redis.UniversalClient, now func() time.Time) *Store {
	t.Helper()
	return storeOf(t, client, Config{Prefix: fmt.Sprintf("test%d:", made.Add(1)), Now: now, Timeout: time.Minute})
}

// run makes a call without the dispatcher.
func (c *call) run(t testing.TB, client *redis.Client) error {
	t.Helper()
	reply, err := client.Eval(t.Context(), c.script.text, c.keys, c.arg).Text()
	c.reply = reply
	return err
}
