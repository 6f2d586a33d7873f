package redisstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// A client that hangs up neither fails its call nor loses the charge, whether it does
// before the call is sent or while it is under way.
func TestCancelledContext(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	s := storeOf(t, single(t, proxy.Addr()), Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	ctx, cancel := context.WithCancel(t.Context())
	proxy.Delay(0, 50*time.Millisecond)
	time.AfterFunc(10*time.Millisecond, cancel)
	for want := int64(1); want <= 2; want++ {
		results := make([]ratelimit.Result, 1)
		if err := s.Take(ctx, []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}, results); err != nil || results[0].Used != want {
			t.Errorf("used %d, want %d; error %v", results[0].Used, want, err)
		}
		<-ctx.Done()
	}
}

func TestDeadline(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	s := storeOf(t, single(t, proxy.Addr()), Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	charges := []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}
	take(t, s, charges...)

	proxy.BlackHole()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Take(ctx, charges, make([]ratelimit.Result, 1)); err == nil {
		t.Error("no error out of a black hole")
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("a deadline of 20 ms was honoured after %v", took)
	}
	proxy.Pass()
	if err := s.Take(ctx, charges, make([]ratelimit.Result, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	before := proxy.Requests("evalsha")
	if used := p.used(t, s, "k"); used > 2 || proxy.Requests("evalsha") != before+1 {
		t.Errorf("%d in use; a call was sent after its deadline", used)
	}
}

// An outage costs each caller the time-out and not more, also where the client does
// not honour deadlines. What the callers did with their memory is theirs.
func TestBlackHole(t *testing.T) {
	for name, honoured := range map[string]bool{"deadlines honoured": true, "deadlines ignored": false} {
		t.Run(name, func(t *testing.T) {
			proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
			client := redis.NewClient(&redis.Options{Addr: proxy.Addr(), ContextTimeoutEnabled: honoured, ReadTimeout: time.Second})
			defer client.Close()
			s := storeOf(t, client, Config{Observer: new(recorder)})
			proxy.BlackHole()
			start := time.Now()
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					p := policyOf(t, s, "p", ratelimit.PerHour(1000))
					charges := []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}
					results := make([]ratelimit.Result, 1)
					if s.Take(t.Context(), charges, results) == nil {
						t.Error("no error out of a black hole")
					}
					charges[0].Key[0], charges[0].Cost, results[0].Used = 'x', 7, 7 // the race detector watches
				})
			}
			wg.Wait()
			if took := time.Since(start); took > patience/2 {
				t.Errorf("100 callers at once took %v, with a time-out of 100 ms", took)
			}
			proxy.Pass()
			p := policyOf(t, s, "p", ratelimit.PerHour(1000))
			for start := time.Now(); ; {
				err := s.Take(t.Context(), []ratelimit.Charge{p.charge("k", 1, ratelimit.Enforce)}, make([]ratelimit.Result, 1))
				if err == nil {
					break
				}
				if time.Since(start) > patience {
					t.Fatalf("after the outage: %v", err)
				}
			}
		})
	}
}

// A call that its caller left while it waited is not sent.
func TestLeftWhileWaiting(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr(), ReadTimeout: 3 * time.Second}) // longer than callers wait
	t.Cleanup(func() { client.Close() })
	d := dispatching(t, client)
	if _, err := count(d, t.Context(), patience, "k"); err != nil {
		t.Fatal(err)
	}
	before := proxy.Requests("evalsha")
	proxy.BlackHole()
	leave := func() {
		if _, err := count(d, t.Context(), 100*time.Millisecond, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the time-out", err)
		}
	}
	var wg sync.WaitGroup
	occupy(t, d, &wg, leave)
	for range 50 {
		wg.Go(leave)
	}
	wg.Wait()
	if n := d.load().queued; n > 0 {
		t.Errorf("%d calls are still queued though their callers left", n)
	}
	proxy.Pass()
	if _, err := count(d, t.Context(), patience, "k"); err != nil {
		t.Error(err)
	}
	if sent := proxy.Requests("evalsha") - before; sent > maxPipelines+1 {
		t.Errorf("%d calls were sent, want those of %d pipelines and the last", sent, maxPipelines)
	}
}

// Nor is one that was left while another still waited before it.
func TestLeftInTheMiddle(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	d := dispatching(t, single(t, proxy.Addr()))
	if _, err := count(d, t.Context(), patience, "k"); err != nil {
		t.Fatal(err)
	}
	proxy.Delay(0, time.Second)
	var wg sync.WaitGroup
	stay := func() {
		if _, err := count(d, t.Context(), patience, "k"); err != nil {
			t.Error(err)
		}
	}
	occupy(t, d, &wg, stay)
	wg.Go(stay)
	until(t, func() bool { return d.load() == load{1, maxPipelines} })
	if _, err := count(d, t.Context(), time.Millisecond, "left"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the time-out", err)
	}
	wg.Wait()
	proxy.Pass()
	if got, err := count(d, t.Context(), patience, "left"); got != "1" || err != nil {
		t.Errorf("counted %q, %v: the call was sent after its caller had left", got, err)
	}
}

// Where one node of several is down, calls for the others do not wait behind its own.
func TestDeadNodeHoldsNobodyUp(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{Args: []string{"--cluster-require-full-coverage", "no"}})
	s := storeOf(t, clusterOf(t, cluster.Addrs()), Config{Timeout: patience})
	p := policyOf(t, s, "p", ratelimit.PerHour(1000))
	keys := apart(t, cluster, 2)
	for _, key := range keys {
		take(t, s, p.charge(key, 1, ratelimit.Enforce))
	}
	cluster.Node(ownerOf(cluster, keys[0])).Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 4 * maxPipelines {
		wg.Go(func() {
			_ = s.Take(ctx, []ratelimit.Charge{p.charge(keys[0], 1, ratelimit.Enforce)}, make([]ratelimit.Result, 1))
		})
	}
	for range 20 {
		take(t, s, p.charge(keys[1], 1, ratelimit.Enforce))
	}
	if ctx.Err() != nil {
		t.Error("calls for a node that lives waited for one that does not")
	}
	wg.Wait()
}
