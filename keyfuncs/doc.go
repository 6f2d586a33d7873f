// Package keyfuncs has the key functions that most apps need: they say who is
// counted by a [ratelimit.Policy]. It has cost functions too.
//
// Each key function appends a key that people can read in a log and use with
// [ratelimit.Limiter.Reset]; those for secrets append a hash. A request that
// carries no identity answers [ratelimit.ErrNoKey], never an empty or shared
// key. None allocates but [Query] where it has to decode, none keeps the request's
// memory, and all are safe for concurrent use.
//
// Constructors panic on what can never work, as [regexp.MustCompile] does: they
// run while the app starts. The panic's value is an error that holds every
// mistake, as *[ratelimit.ConfigError] values.
//
// What to count by:
//
//	ClientIP                    the client's address, behind the proxies you name
//	User, Tenant                what your authentication found out
//	APIKey, Cookie              a secret that the client sent
//	Header, Query, PathValue    something else that it sent
//	TrustedHeader               what your proxy or CDN says of the client
//	Route, Method, Host         what it asks for, whoever it is
//	Everyone                    all requests together
//	Func                        anything else
//	Join(Tenant(f), Route)      each pair of both
//	First(User(f), ClientIP())  the user, or the address of who is not logged in
//	Hash(f)                     the same as f, unreadable
//	Prefix("web", f)            the same as f, apart from other uses of the store
//
// Costs are [Fixed], [CostByMethod], [CostByRoute], [BodySize], and the [Product]
// of several.
//
// What a client sends without proof (a header, a cookie, a parameter, a host, an
// unverified API key) it can change with every request, for a fresh quota each
// time. Count by it only behind what verifies it, or beside a limit by [ClientIP].
package keyfuncs
