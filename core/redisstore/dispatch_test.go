package redisstore

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

const patience = 10 * time.Second // far beyond what any call takes

func TestAloneIsOneRoundTrip(t *testing.T) {
	server := redistest.Start(t)
	d := dispatching(t, single(t, server.Addr()))
	for want := 1; want <= 3; want++ {
		if got, err := count(d, t.Context(), patience, "k"); got != strconv.Itoa(want) || err != nil {
			t.Fatalf("call %d: %q, %v", want, got, err)
		}
	}
	if trips, loads := d.stats.trips.Load(), d.stats.loads.Load(); trips != 4 || loads != 1 {
		t.Errorf("%d round trips and %d loads, want 4, the script's text once among them", trips, loads)
	}
}

// Callers that come while pipelines are under way share the next one, and each gets the
// answer that is its own.
func TestManyShare(t *testing.T) {
	proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
	d := dispatching(t, single(t, proxy.Addr()))
	proxy.Delay(0, 10*time.Millisecond)
	const callers, each = 100, 10
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := range each {
				got, err := count(d, t.Context(), patience, "k"+strconv.Itoa(caller))
				if err != nil || got != strconv.Itoa(i+1) {
					t.Errorf("caller %d, call %d: %q, %v", caller, i, got, err)
				}
			}
		})
	}
	wg.Wait()
	if trips := d.stats.trips.Load(); trips > callers*each/4 {
		t.Errorf("%d round trips for %d calls", trips, callers*each)
	}
}

func TestFlushedScripts(t *testing.T) {
	server := redistest.Start(t)
	d := dispatching(t, single(t, server.Addr()))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 20 {
				if _, err := count(d, t.Context(), patience, "k"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop := make(chan struct{})
	var flusher sync.WaitGroup
	flusher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := server.Do("SCRIPT", "FLUSH"); err != nil {
					t.Error(err)
				}
			}
		}
	})
	wg.Wait()
	close(stop)
	flusher.Wait()
	if got, _ := count(d, t.Context(), patience, "k"); got != "2001" {
		t.Errorf("counted %q, want each call once, 2001", got)
	}
	t.Logf("%d round trips, %d loads", d.stats.trips.Load(), d.stats.loads.Load())
}

// More calls than there are answers for are told so in time: what is sent is answered to
// somebody who waits for it, and nothing is charged for those who have left.
func TestOverload(t *testing.T) {
	const callers, timeout = 4000, time.Second
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	proxy.Delay(timeout/8, timeout/8)
	d := dispatching(t, single(t, proxy.Addr()))
	if _, err := count(d, t.Context(), time.Minute, "warm"); err != nil {
		t.Fatal(err)
	}
	var answered, busy, late atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			switch _, err := count(d, t.Context(), timeout, "key"); err {
			case nil:
				answered.Add(1)
			case errBusy:
				busy.Add(1)
			default:
				late.Add(1)
			}
		})
	}
	wg.Wait()
	ran, err := single(t, server.Addr()).Get(t.Context(), "key").Int64()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ran: %d answered, %d not sent, %d late", ran, answered.Load(), busy.Load(), late.Load())
	if waste := ran - answered.Load(); waste > answered.Load()/10 || answered.Load() == 0 || busy.Load() == 0 {
		t.Errorf("%d of %d that ran were answered to nobody; %d were not sent", waste, ran, busy.Load())
	}
}
