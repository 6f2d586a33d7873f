// Package redisstore keeps the counters of package ratelimit in Redis or Valkey, so
// that all instances of an app share one limit: one server, Sentinel, Cluster, or a
// Ring.
//
//	store, err := redisstore.Open("redis://localhost:6379", redisstore.Config{})
//	...
//	defer store.Close()
//	limits, err := ratelimit.New(ratelimit.Config{Store: store, Policies: policies})
//
// [Open] makes a client that suits; [New] takes one that is there. Neither connects, so
// an app starts while its server is down.
//
// # Round trips
//
// A decision is one script call, whatever number of policies it has, on the server's
// own clock. Calls that come while four pipelines are in flight share the next one. A
// script that the server does not know, after a restart or a fail-over, is sent along by
// itself. A call that the server says it did not run (it loads its data, became a
// replica, or a slot moves) is sent again until the time-out. One whose reply was lost is
// not: it may have charged. Hooks of the client see the context's values of one of the
// callers that share a pipeline. Under more load than there are answers, a call that has
// waited for half of its time is not sent; its error wraps ratelimit.ErrBusy.
//
// # Keys
//
// A stored key is Config.Prefix, a hash tag of four digits made from the charge's key,
// the space's prefix, and the key. So all policies on one key share a slot, whatever
// the key is. Each key lives as long as something is in use under it.
//
// # Several keys on a cluster
//
// Where the keys of one Take are in different slots (one policy counts by address,
// another by user), no single call can decide it. On a ClusterClient and a Ring each slot
// decides in a call of its own, all at once. If all admit, that is it. If one denies,
// a second trip gives back what the others charged, and asks them for the numbers to
// tell. So a Take is never admitted by some alone, and no limit is ever exceeded; but
// for the time of a round trip others may be denied by what is about to be given back,
// and the state remembers when it was touched last. [Stats] counts these Takes. What
// cannot be given back, because the server fails just then, is reported as
// ratelimit.ReportAdjustError and ends with its window.
//
// A leaky bucket gives back only the last place of its queue. So slots that charge one are
// only looked at along with the others, and charged once those have admitted, which costs
// an admitted Take one more trip. Where a Take has queues in two slots, a denial by one may still leave places of
// the other taken until they drain.
//
// A Take that one slot denied is denied, whatever becomes of the others. Where the time
// ends before all is given back, or a slot fails, the results that are not known are
// told as not asked. If a slot cannot be asked and none denied, what the others charged
// is given back, and the Take fails. A Spill depends on the charge before it, so on a
// cluster both need the same key; else the error wraps ratelimit.ErrMisuse. Adjustments
// are independent: those that could be made are.
//
// A plain client that is connected to a server in cluster mode is treated like a
// ClusterClient from the first refusal on.
package redisstore
