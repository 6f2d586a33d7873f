package stacktest_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

var troubleLasts = flag.Duration("trouble", 0, "how long each kind of trouble lasts; 0 leaves it out")

const (
	callers  = 32
	pace     = 5 * time.Millisecond // between two requests of a caller
	recovery = 2 * time.Second      // the longest until all callers get decisions again
	stall    = 50 * time.Millisecond
	patience = 30 * time.Second     // for what has no bound, on a slow and busy machine
	ages     = 366 * 24 * time.Hour // a window of which no test sees the end

	// enough is a time-out that nothing should need, so that where one passes it is no
	// slow machine's fault.
	enough = 10 * time.Second
)

// trouble skips a test unless it was asked for. Then it looks for leaked goroutines
// once everything that is started after it has ended.
func trouble(t *testing.T) {
	if *troubleLasts == 0 {
		t.Skip("it lasts: -trouble=2s runs it")
	}
	old := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		err := goleak.Find(old)
		for end := time.Now().Add(2 * time.Second); err != nil && time.Now().Before(end); {
			err = goleak.Find(old) // a client that was closed while it could not connect ends within a second
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// stacks runs a test on a store as it is, and on one behind a breaker and a cache. A
// timeout of 0 means the usual one.
func stacks(t *testing.T, url string, timeout time.Duration, test func(*testing.T, *stack)) {
	for _, wrapped := range []bool{false, true} {
		name := map[bool]string{false: "bare", true: "wrapped"}[wrapped]
		t.Run(name, func(t *testing.T) {
			s := &stack{tally: newTally(t)}
			store, err := redisstore.Open(url, redisstore.Config{Prefix: name + ":", Timeout: timeout, Observer: s.tally})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			s.store = store
			if wrapped {
				s.store = wrap(t, store, timeout)
			}
			t.Cleanup(s.tally.log)
			test(t, s)
		})
	}
}

// stack is a store, whatever is around it, and what comes of it.
type stack struct {
	store ratelimit.Store
	tally *tally
}

func wrap(t *testing.T, store ratelimit.Store, timeout time.Duration) ratelimit.Store {
	fuse, err := breaker.New(store, breaker.Config{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := denycache.New(fuse, denycache.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// quotaOfTheTrouble returns a quota that is used up late in the trouble, or after it.
func quotaOfTheTrouble() int64 { return min(5000, int64(500*troubleLasts.Seconds())) }

// exactly checks that nothing failed, and how many were admitted under policies and
// their keys.
func (s *stack) exactly(t *testing.T, quota int64, names ...string) {
	t.Helper()
	if n := s.tally.failures(); n > 0 {
		t.Errorf("%d failures, want none", n)
	}
	for _, name := range names {
		if got := s.tally.admitted(name); got != quota {
			t.Errorf("%s: %d admitted, want %d", name, got, quota)
		}
	}
}

func clusterURL(c *redistest.Cluster) string {
	addrs := c.Addrs()
	return "redis+cluster://" + addrs[0] + "?addr=" + strings.Join(addrs[1:], "&addr=")
}

// slotOf returns the slot of a limiter's key, which it finds among those stored.
func slotOf(t *testing.T, cluster *redistest.Cluster, key string) int {
	t.Helper()
	for i := range cluster.Nodes() {
		found, err := cluster.Node(i).Do("KEYS", "*="+key)
		stored, _ := found.([]any)
		if err != nil {
			continue // it is down
		}
		if len(stored) > 0 {
			return redistest.KeySlot(stored[0].(string))
		}
	}
	t.Fatalf("no node knows the key %q", key)
	return 0
}
