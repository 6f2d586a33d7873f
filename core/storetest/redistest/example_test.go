package redistest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// What does a client do when its server crashes, and when it is back?
func ExampleStart() {
	_ = func(t *testing.T) { // func TestCrash(t *testing.T)
		server := redistest.Start(t, "--maxmemory", "10mb")
		connect(server.Addr())
		server.Kill()
		server.Restart()
	}
	// Output:
}

// What does a client do while its server hangs?
func ExampleServer_Stop() {
	_ = func(t *testing.T) { // func TestHang(t *testing.T)
		server := redistest.Start(t)
		connect(server.Addr())
		server.Stop()
		server.Resume()
	}
	// Output:
}

// How many commands did a client send?
func ExampleServer_Commands() {
	_ = func(t *testing.T) { // func TestOneRoundTrip(t *testing.T)
		server := redistest.Start(t)
		server.ResetStats()
		connect(server.Addr())
		if calls := server.Commands()["evalsha"].Calls; calls != 1 {
			t.Errorf("%d calls, want 1", calls)
		}
	}
	// Output:
}

// Is a request done twice where its reply is lost?
func ExampleNewProxy() {
	_ = func(t *testing.T) { // func TestLostReply(t *testing.T)
		server := redistest.Start(t)
		proxy := redistest.NewProxy(t, server.Addr())
		connect(proxy.Addr())
		proxy.DropReplies(1, "evalsha")
		if n := proxy.Requests("evalsha"); n != 1 {
			t.Errorf("sent %d times, want 1", n)
		}
	}
	// Output:
}

// What is a request's fate across a slow network?
func ExampleProxy_Delay() {
	_ = func(t *testing.T) { // func TestSlow(t *testing.T)
		proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
		proxy.Delay(0, 200*time.Millisecond)
		connect(proxy.Addr())
		proxy.Pass()
	}
	// Output:
}

// Does a client follow its master?
func ExampleStartSentinel() {
	_ = func(t *testing.T) { // func TestFailover(t *testing.T)
		sentinel := redistest.StartSentinel(t)
		connect(sentinel.Addrs()...) // and sentinel.MasterName()
		master := sentinel.Failover()
		t.Log("the master is", master.Addr())
	}
	// Output:
}

// Does a client follow a slot that moves?
func ExampleStartCluster() {
	_ = func(t *testing.T) { // func TestMove(t *testing.T)
		cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
		connect(cluster.Addrs()...)
		slot := redistest.KeySlot("key")
		from := cluster.Owner(slot)
		cluster.MigrateSlot(slot, from, (from+1)%cluster.Nodes(), func() {
			// Send requests for the slot.
		})
	}
	// Output:
}

// Keys with the same text in braces share a slot.
func ExampleKeySlot() {
	fmt.Println(redistest.KeySlot("{user}a") == redistest.KeySlot("{user}b"))
	// Output: true
}

// A test of a server among others can leave itself out.
func ExampleAvailable() {
	_ = func(t *testing.T) { // func TestAll(t *testing.T)
		if redistest.Available() {
			connect(redistest.Start(t).Addr())
		}
	}
	// Output:
}

// connect stands for the client that is tested.
func connect(...string) {}
