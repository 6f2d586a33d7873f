package redisstore

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// rig is a client, and the proxy in front of the server that a key is on.
type rig struct {
	client redis.UniversalClient
	proxy  func(key string) *redistest.Proxy
}

// rigs are all kinds of clients.
var rigs = map[string]func(t *testing.T) rig{
	"single": func(t *testing.T) rig {
		proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
		return rig{single(t, proxy.Addr()), func(string) *redistest.Proxy { return proxy }}
	},
	"cluster": func(t *testing.T) rig {
		cluster := redistest.StartCluster(t, redistest.ClusterConfig{Proxied: true})
		return rig{clusterOf(t, cluster.Addrs()), func(key string) *redistest.Proxy { return cluster.Proxy(ownerOf(cluster, key)) }}
	},
	"ring": func(t *testing.T) rig {
		proxies := map[string]*redistest.Proxy{}
		var addrs []string
		for range 2 {
			p := redistest.NewProxy(t, redistest.Start(t).Addr())
			proxies[p.Addr()] = p
			addrs = append(addrs, p.Addr())
		}
		ring := ringOf(t, addrs...)
		return rig{ring, func(key string) *redistest.Proxy {
			shard, err := ring.GetShardClientForKey(tagged(key))
			if err != nil {
				t.Fatal(err)
			}
			return proxies[shard.Options().Addr]
		}}
	},
}

// tagged returns a text that is in the slot of a charge's key.
func tagged(key string) string { return "{" + tagOf([]byte(key)) + "}" }

func ownerOf(cluster *redistest.Cluster, key string) int {
	return cluster.Owner(redistest.KeySlot(tagged(key)))
}

// apart returns keys on so many nodes of a cluster, one of each.
func apart(t *testing.T, cluster *redistest.Cluster, n int) []string {
	t.Helper()
	var keys []string
	seen := map[int]bool{}
	for i := 0; len(keys) < n && i < 1000; i++ {
		key := "key" + strconv.Itoa(i)
		if owner := ownerOf(cluster, key); !seen[owner] {
			seen[owner] = true
			keys = append(keys, key)
		}
	}
	if len(keys) < n {
		t.Fatalf("found keys on %d nodes, want %d", len(keys), n)
	}
	return keys
}

// policy is a space with its one limit.
type policy struct {
	space *ratelimit.Space
	limit ratelimit.Limit
}

func policyOf(t testing.TB, s ratelimit.Store, name string, limit ratelimit.Limit) policy {
	t.Helper()
	p := policy{ratelimit.NewSpace(name, limit), limit}
	if err := s.Open(p.space); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p policy) charge(key string, cost int64, mode ratelimit.Mode) ratelimit.Charge {
	return ratelimit.Charge{Space: p.space, Key: []byte(key), Limit: p.limit, Cost: cost, Mode: mode}
}

// used returns what is in use under a key.
func (p policy) used(t testing.TB, s ratelimit.Store, key string) int64 {
	t.Helper()
	return take(t, s, p.charge(key, 0, ratelimit.Enforce))[0].Used
}

// take makes a Take that is to succeed.
func take(t testing.TB, s ratelimit.Store, charges ...ratelimit.Charge) []ratelimit.Result {
	t.Helper()
	results := make([]ratelimit.Result, len(charges))
	if err := s.Take(t.Context(), charges, results); err != nil {
		t.Fatal(err)
	}
	return results
}

// admitted reports whether all charges were allowed.
func admitted(results []ratelimit.Result) bool {
	for _, r := range results {
		if !r.Allowed {
			return false
		}
	}
	return true
}

// recorder is an observer that keeps what is reported.
type recorder struct {
	mu      sync.Mutex
	reports []ratelimit.Report
}

func (*recorder) Decided(context.Context, []byte, ratelimit.Decision) {}

func (r *recorder) Reported(_ context.Context, report ratelimit.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, report)
}

// kinds returns the kinds of what was reported, in order.
func (r *recorder) kinds() (kinds []ratelimit.ReportKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, report := range r.reports {
		kinds = append(kinds, report.Kind)
	}
	return kinds
}
