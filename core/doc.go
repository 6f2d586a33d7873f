// Package ratelimit decides whether a request may go on, exactly and at once, and
// says so in words that clients understand.
//
// A [Policy] is one limit: who is counted ([KeyFunc]), how much ([Limit]), what a
// request costs, and what happens above it ([Over]). A [Limiter] holds policies: a
// request is charged under all of them or under none. A [Store] counts; without one
// a limiter has its own [Memory].
//
// Web apps use an adapter, which is one line:
//
//	r.Use(chilimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))
//
// or, for more than one limit, another store or other headers, a limiter:
//
//	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
//		{Name: "api", Limit: ratelimit.PerMinute(100).WithBurst(20), Key: keyfuncs.ClientIP()},
//	}})
//	r.Use(chilimit.Middleware(limits))
//
// Code without HTTP asks [Limiter.Allow], [Limiter.Wait] or [Limiter.Acquire].
//
// The package depends on the standard library only. Adapters are in
// adapters/nethttp and its siblings, key and cost functions in package keyfuncs,
// helpers for an app's tests in limittest, the suite for stores in storetest.
package ratelimit
