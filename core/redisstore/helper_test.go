package redisstore

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// countScript adds its argument to its key, and returns the sum.
var countScript = func() *script {
	const text = `return tostring(redis.call('INCRBY', KEYS[1], ARGV[1]))`
	sum := sha1.Sum([]byte(text))
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}()

// single returns a client of one server, with time-outs that are a test's.
func single(t testing.TB, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	return c
}

func clusterOf(t testing.TB, addrs []string) *redis.ClusterClient {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	return c
}

func ringOf(t testing.TB, addrs ...string) *redis.Ring {
	shards := map[string]string{}
	for _, a := range addrs {
		shards[a] = a
	}
	c := redis.NewRing(&redis.RingOptions{Addrs: shards, ContextTimeoutEnabled: true, HeartbeatFrequency: time.Hour})
	t.Cleanup(func() { c.Close() })
	return c
}

// dispatching returns a dispatcher that ends with the test.
func dispatching(t testing.TB, client redis.UniversalClient) *dispatcher {
	d := &dispatcher{client: client, stats: new(counters), lanes: map[*redis.Client]*lane{}}
	t.Cleanup(d.close)
	return d
}

// count adds one to a key, and returns the reply.
func count(d *dispatcher, ctx context.Context, timeout time.Duration, key string) (string, error) {
	t := newTrip(ctx, time.Now().Add(timeout), 1)
	c := &t.calls[0]
	c.script, c.keys, c.arg = countScript, []string{key}, "1"
	d.do(t)
	if err := c.failure(); err != nil {
		return "", err
	}
	return c.reply, nil
}

// load is what a dispatcher has to do.
type load struct{ queued, pipelines int }

func (d *dispatcher) load() (all load) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.lanes {
		all.pipelines += l.running
		for c := l.first; c != nil; c = c.next {
			all.queued++
		}
	}
	return all
}

// until waits for a condition that other goroutines bring about.
func until(t testing.TB, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

// occupy makes calls until as many pipelines are under way as may be, each with one.
func occupy(t testing.TB, d *dispatcher, calls *sync.WaitGroup, call func()) {
	t.Helper()
	for i := range maxPipelines {
		until(t, func() bool { return d.load() == load{pipelines: i} })
		calls.Go(call)
	}
	until(t, func() bool { return d.load() == load{pipelines: maxPipelines} })
}
