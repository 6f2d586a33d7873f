// Package redistest runs real Redis or Valkey servers for the length of a test, and
// a proxy in front of them that loses, cuts and delays what it carries.
//
//	func TestStore(t *testing.T) {
//		server := redistest.Start(t)
//		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
//		...
//		server.Kill() // and what does the client do now?
//	}
//
// [Start] runs a single server, [StartSentinel] a master that sentinels watch,
// [StartCluster] a cluster, and [NewProxy] a proxy. All listen on 127.0.0.1, keep
// nothing on disk that outlives the test, and end with it. What a server logged
// is shown where the test failed.
//
// The servers are the redis-server, or else the valkey-server, that PATH holds;
// version 7.0 or newer. Without one the test is skipped, unless the environment
// sets [Require]: then it fails, so that a run that must test servers cannot miss
// them silently.
//
// Methods that return no error fail the test where something goes wrong. They may
// be called from several goroutines, but what waits for a server (Start, Restart,
// Failover, MigrateSlot and the like) ends the test with Fatal, and so belongs on
// the goroutine of the test.
//
// A server has one goroutine while it runs, a proxy several. A search for leaked
// goroutines should run after the test's cleanups: registered with t.Cleanup before
// the server is started, or in TestMain.
package redistest
