// Package limittest helps apps to test what they limit, without sleeping and
// without a real flood of requests.
//
//   - A [Store] decides as it is told: for tests of what an app does when a request
//     is admitted, denied, or the store is down.
//   - A [Clock] moves only when it is told to: for tests of the limits themselves,
//     counted by a real memory store. In a [testing/synctest] bubble no such clock
//     is needed, since time.Now is one.
//   - [AssertAllowed], [AssertDenied], [Remaining] and [RetryAfter] read answers.
//   - A [Request] is what key and cost functions see.
//
// It imports only ratelimit and the standard library.
package limittest
