package redisstore

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

var notAsked = ratelimit.Result{Allowed: true}

// A slot that denies decides, whether another hangs or refuses: else who fails open
// would admit what is over a limit.
func TestAcrossSlotsDeniedThoughDown(t *testing.T) {
	s := startAcross(t)
	impatient := storeOf(t, s.client, Config{Timeout: 500 * time.Millisecond})
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	policyOf(t, impatient, "p", ratelimit.PerHour(10))
	take(t, s, p.charge(s.a, 10, ratelimit.Enforce), p.charge(s.b, 1, ratelimit.Enforce), p.charge(s.c, 1, ratelimit.Enforce))
	take(t, impatient, p.charge(s.a, 0, ratelimit.Enforce)) // it knows which slot is where from now on
	node := s.cluster.Node(ownerOf(s.cluster, s.b))
	node.Stop()
	r := take(t, impatient, p.charge(s.a, 1, ratelimit.Enforce), p.charge(s.b, 1, ratelimit.Enforce), p.charge(s.c, 1, ratelimit.Enforce))
	if r[0].Allowed || r[0].Used != 10 || r[0].RetryAfter <= 0 || r[1] != notAsked || !r[2].Allowed {
		t.Errorf("the node hangs: %+v", r)
	}
	full := policyOf(t, s, "full", ratelimit.PerHour(10).Using(ratelimit.LeakyBucket))
	policyOf(t, impatient, "full", full.limit)
	take(t, s, full.charge(s.a, 10, ratelimit.Enforce))
	r = take(t, impatient, full.charge(s.a, 1, ratelimit.Enforce), p.charge(s.b, 1, ratelimit.Enforce))
	if r[0].Allowed || r[0].Used != 10 || r[1] != notAsked {
		t.Errorf("a queue is full and the other node hangs: %+v", r)
	}
	node.Resume()
	node.Kill()
	r = take(t, impatient, p.charge(s.a, 1, ratelimit.Enforce), p.charge(s.b, 1, ratelimit.Enforce))
	if r[0].Allowed || r[0].Used != 10 || r[1] != notAsked {
		t.Errorf("the node is gone: %+v", r)
	}
	until(t, func() bool { return p.used(t, s, s.c) == 1 })
}

// proxied is a cluster behind proxies, connected already, and keys on two of its nodes.
func proxied(t *testing.T, client func(addrs []string) redis.UniversalClient) (c redis.UniversalClient, delay func(time.Duration), a, b string) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{Proxied: true})
	keys := apart(t, cluster, 2)
	c = client(cluster.Addrs())
	s := storeOf(t, c, Config{Timeout: patience, Observer: new(recorder)})
	warm := policyOf(t, s, "warm", ratelimit.PerHour(10))
	for range 2 { // denials by each of them, so that both know the scripts
		take(t, s, warm.charge(keys[0], 1, ratelimit.Enforce), warm.charge(keys[1], 11, ratelimit.Enforce))
		take(t, s, warm.charge(keys[0], 11, ratelimit.Enforce), warm.charge(keys[1], 1, ratelimit.Enforce))
	}
	return c, func(replies time.Duration) {
		for i := range cluster.Nodes() {
			cluster.Proxy(i).Delay(0, replies)
		}
	}, keys[0], keys[1]
}

func honouring(t *testing.T) func([]string) redis.UniversalClient {
	return func(addrs []string) redis.UniversalClient { return clusterOf(t, addrs) }
}

// Where there is time to deny and not to give back, the caller is told that it is denied,
// and what the others charged is given back after it left.
func TestAcrossSlotsDeniedLate(t *testing.T) {
	client, delay, a, b := proxied(t, honouring(t))
	patient, s := storeOf(t, client, Config{Timeout: patience}), storeOf(t, client, Config{Timeout: time.Second})
	p := policyOf(t, patient, "p", ratelimit.PerHour(10))
	policyOf(t, s, "p", ratelimit.PerHour(10))
	delay(600 * time.Millisecond)
	r := take(t, s, p.charge(a, 1, ratelimit.Enforce), p.charge(b, 11, ratelimit.Enforce))
	if r[0] != notAsked || r[1].Allowed || r[1].Remaining != 10 || r[1].Now == 0 {
		t.Errorf("%+v", r)
	}
	delay(0)
	until(t, func() bool { return s.Stats().GiveBacks == 1 && p.used(t, patient, a) == 0 })
}

// Where the caller left with an error, and all admit after that, all is given back.
func TestAcrossSlotsAdmittedLate(t *testing.T) {
	client, delay, a, b := proxied(t, func(addrs []string) redis.UniversalClient {
		c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ReadTimeout: patience})
		t.Cleanup(func() { c.Close() })
		return c
	})
	quiet := new(recorder)
	patient, s := storeOf(t, client, Config{Timeout: patience, Observer: quiet}), storeOf(t, client, Config{Timeout: 200 * time.Millisecond, Observer: quiet})
	p := policyOf(t, patient, "p", ratelimit.PerHour(10))
	policyOf(t, s, "p", ratelimit.PerHour(10))
	delay(500 * time.Millisecond)
	charges := []ratelimit.Charge{p.charge(a, 1, ratelimit.Enforce), p.charge(b, 2, ratelimit.Enforce)}
	if err := s.Take(t.Context(), charges, make([]ratelimit.Result, 2)); !errors.Is(err, errTimeout) {
		t.Errorf("%v, want the time-out", err)
	}
	until(t, func() bool { return s.Stats().GiveBacks == 1 })
	delay(0)
	until(t, func() bool { return p.used(t, patient, a) == 0 && p.used(t, patient, b) == 0 })
}

// Closing the store waits for a Take that is under way, and for what it gives back.
func TestAcrossSlotsClosed(t *testing.T) {
	client, delay, a, b := proxied(t, honouring(t))
	other, s := storeOf(t, client, Config{Timeout: patience}), storeOf(t, client, Config{Timeout: patience})
	p := policyOf(t, other, "p", ratelimit.PerHour(10))
	policyOf(t, s, "p", ratelimit.PerHour(10))
	delay(300 * time.Millisecond)
	charges, results := []ratelimit.Charge{p.charge(a, 1, ratelimit.Enforce), p.charge(b, 11, ratelimit.Enforce)}, make([]ratelimit.Result, 2)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Take(t.Context(), charges, results); err != nil {
			t.Error(err)
		}
	})
	until(t, func() bool { return s.Stats().RoundTrips > 0 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if !results[0].Allowed || results[0].Used != 0 || results[1].Allowed {
		t.Errorf("%+v", results)
	}
	if used := p.used(t, other, a); used != 0 {
		t.Errorf("%d in use", used)
	}
}

// So does what waits to be given back while others are refused.
func TestCloseSendsGiveBacks(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	d := dispatching(t, single(t, proxy.Addr()))
	if _, err := count(d, t.Context(), patience, "k"); err != nil {
		t.Fatal(err)
	}
	proxy.Delay(0, 300*time.Millisecond)
	var wg sync.WaitGroup
	occupy(t, d, &wg, func() {
		if _, err := count(d, t.Context(), patience, "k"); err != nil {
			t.Error(err)
		}
	})
	if !d.begin() {
		t.Fatal("closed")
	}
	var errs [2]error
	for i, back := range []bool{true, false} {
		wg.Go(func() {
			trip := newTrip(t.Context(), time.Now().Add(patience), 1)
			trip.givesBack = back
			c := &trip.calls[0]
			c.script, c.keys, c.arg = countScript, []string{"back" + strconv.FormatBool(back)}, "1"
			d.do(trip)
			if errs[i] = c.failure(); back {
				d.end()
			}
		})
		until(t, func() bool { return d.load() == load{1 + i, maxPipelines} })
	}
	d.close()
	wg.Wait()
	if errs[0] != nil || !errors.Is(errs[1], errClosed) {
		t.Errorf("%v, want that what gives back is sent and the other refused", errs)
	}
}

// A queue gives back only its last place, so it is asked once the others have admitted.
// Denied Takes then leave nothing in it.
func TestAcrossSlotsQueue(t *testing.T) {
	s := startAcross(t)
	queue, p := policyOf(t, s, "queue", ratelimit.PerHour(100).Using(ratelimit.LeakyBucket)), policyOf(t, s, "p", ratelimit.PerHour(1))
	bans := ratelimit.NewPenaltySpace("bans", ratelimit.Penalty{Denials: 1000, Within: time.Hour, Ban: time.Hour})
	if err := s.Open(bans); err != nil {
		t.Fatal(err)
	}
	charges := []ratelimit.Charge{
		queue.charge(s.a, 1, ratelimit.Enforce),
		{Space: bans, Key: []byte(s.a), Cost: 1, Mode: ratelimit.Strike},
		p.charge(s.b, 1, ratelimit.Enforce),
	}
	if r := take(t, s, charges...); !admitted(r) || r[0].Used != 1 || r[2].Used != 1 {
		t.Errorf("%+v", r)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				r := take(t, s, charges...)
				if !r[0].Allowed || r[0].Used != 1 || r[1].Used == 0 || r[2].Allowed {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	wg.Wait()
	r := take(t, s, queue.charge(s.a, 0, ratelimit.Enforce), ratelimit.Charge{Space: bans, Key: []byte(s.a), Mode: ratelimit.Strike})
	if r[0].Used != 1 || r[1].Used != 400 {
		t.Errorf("%d places taken, want the one that was admitted; %d denials counted, want 400", r[0].Used, r[1].Used)
	}
	if got := s.Stats(); got.GiveBacks != 0 {
		t.Errorf("%d Takes gave back, want none that had to", got.GiveBacks)
	}
	// A full queue is known as soon as the others are asked. It counts the denial too, and
	// what the other charged is given back.
	take(t, s, queue.charge(s.a, 99, ratelimit.Enforce))
	charges[2].Key = []byte(s.c)
	r = take(t, s, charges...)
	if r[0].Allowed || r[0].Used != 100 || r[1].Used != 401 || !r[2].Allowed || r[2].Used != 0 || p.used(t, s, s.c) != 0 {
		t.Errorf("%+v", r)
	}
}

// Keys that differ and share their tag are in one slot, and decided in one call.
func TestEqualTags(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	other := ""
	for i := 0; tagOf([]byte(other)) != tagOf([]byte(s.a)); i++ {
		other = strconv.Itoa(i)
	}
	r := take(t, s, p.charge(s.a, 1, ratelimit.Enforce), p.charge(other, 2, ratelimit.Enforce))
	if used := []int64{r[0].Used, r[1].Used}; !cmp.Equal(used, []int64{1, 2}) || s.Stats().Split != 0 {
		t.Errorf("%d in use, want 1 and 2; %d Takes were split", used, s.Stats().Split)
	}
}

// A clock that panics does so where the caller can recover.
func TestAcrossSlotsClockPanics(t *testing.T) {
	s := startAcross(t)
	broken := false
	clock := storeOf(t, s.client, Config{Timeout: patience, Now: func() time.Time {
		if broken {
			panic("no time")
		}
		return time.UnixMicro(1)
	}})
	p := policyOf(t, clock, "p", ratelimit.PerHour(10))
	charges := []ratelimit.Charge{p.charge(s.a, 1, ratelimit.Enforce), p.charge(s.b, 11, ratelimit.Enforce)}
	take(t, clock, charges...)
	broken = true
	defer func() {
		if recover() != "no time" {
			t.Error("want the clock's panic")
		}
	}()
	_ = clock.Take(t.Context(), charges, make([]ratelimit.Result, 2))
}
