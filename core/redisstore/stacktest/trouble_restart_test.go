package stacktest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A server that keeps nothing on disk forgets at each crash what was used. So it admits
// at most one more quota each time.
func TestTroubleRestart(t *testing.T) {
	trouble(t)
	server := redistest.Start(t)
	stacks(t, server.URL(), 0, func(t *testing.T, s *stack) {
		r := &restart{crowd: newCrowd(t, s, "hot"), server: func() *redistest.Server { return server }, back: func() {}}
		r.run()
		r.within("there other", r.lives*there)
	})
}

// What a node of a cluster forgets, the others do not: a Take on keys of both admits no
// more than what is left where the key survived.
func TestTroubleRestartCluster(t *testing.T) {
	trouble(t)
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	stacks(t, clusterURL(cluster), 0, func(t *testing.T, s *stack) {
		r := &restart{crowd: newCrowd(t, s, "hot")}
		owner := func(key string) int { return cluster.Owner(slotOf(t, cluster, key)) }
		r.server = func() *redistest.Server {
			if owner("hot") == owner("other") {
				t.Fatal("the keys are on one node")
			}
			return cluster.Node(owner("hot"))
		}
		r.back = func() {
			for i := range cluster.Nodes() {
				r.until("the cluster to serve", func() bool {
					info, _ := cluster.Node(i).Do("CLUSTER", "INFO")
					return strings.Contains(fmt.Sprint(info), "cluster_state:ok")
				})
			}
		}
		r.run()
		r.within("there other", there)
	})
}

// The quotas of the crowd's key, and of another key that is on another node of a cluster.
const hot, there = 200, 150

// restart is a server that crashes and starts again.
type restart struct {
	*crowd
	server func() *redistest.Server // once the key is there
	back   func()                   // waits until it serves again

	lives int64 // of the server, so far
}

func (r *restart) run() {
	open := r.with(ratelimit.Policy{Name: "open", Limit: ratelimit.Per(hot, ages)})
	closed := r.with(ratelimit.Policy{
		Name: "closed", Limit: ratelimit.Per(hot, ages).Using(ratelimit.GCRA), OnFailure: ratelimit.FailClosed,
	})
	other := ratelimit.Policy{Name: "there", Limit: ratelimit.Per(there, ages)}
	both := r.with(ratelimit.Policy{Name: "here", Limit: ratelimit.Per(hot, ages)}, other)
	r.start(r.allow(open, false), r.serve(open, false), r.allow(closed, true), r.serve(closed, true),
		r.acquire(both, false, ratelimit.Ask{Policy: "here", Key: r.key}, ratelimit.Ask{Policy: "there", Key: "other"}))
	usedUp := func() {
		r.untilUsed(open, r.key, hot)
		r.untilUsed(closed, r.key, hot)
	}

	r.until("a charge on both keys", func() bool { return r.tally.admitted("there other") > 0 })
	server, full := r.server(), int64(1)
	r.lives = 1
	for end := time.Now().Add(*troubleLasts); time.Now().Before(end); r.lives++ {
		down := 50 * time.Millisecond
		if r.lives%2 == 0 { // else it dies while it charges
			usedUp()
			full++
			down = 500 * time.Millisecond
		}
		server.Kill()
		time.Sleep(down)
		server.Restart()
		r.back()
		r.untilReached(time.Now())
	}
	usedUp()
	r.untilUsed(r.with(other), "other", there)
	r.stop()
	for _, name := range []string{"open hot", "closed hot"} {
		r.within(name, r.lives*hot)
		if got, least := r.tally.admitted(name), full*hot-r.tally.mayHaveCharged(); got < least {
			r.t.Errorf("%s: %d admitted, want at least %d", name, got, least)
		}
	}
	r.within("here hot", r.lives*hot)
}

func (r *restart) within(name string, most int64) {
	r.t.Helper()
	if got := r.tally.admitted(name); got > most {
		r.t.Errorf("%s: %d admitted, want at most %d in %d lives of the server", name, got, most, r.lives)
	}
}
