// Package adaptertest holds what every adapter must keep: one table of cases, run
// over live listeners and kept-alive connections.
//
// A case describes an [App] in words that all frameworks have. An adapter's test
// translates it, in one file, and calls [Run]:
//
//	func TestAdapter(t *testing.T) {
//		adaptertest.Run(t, adaptertest.Adapter{Name: "nethttp", Serve: serve})
//	}
//
// Frameworks whose handlers are net/http's share [Handler], [Prepared], [Recover] and
// [ServeHTTP]. [Allocs], [Panics] and [PassesPanic] are for tests beside Run.
package adaptertest

import (
	"net"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Adapter is an adapter under test.
type Adapter struct {
	Name string

	// Serve builds the app with the framework, serves it on l, and returns; it
	// stops when the test ends.
	Serve func(tb testing.TB, app App, l net.Listener)

	// Pattern writes a pattern such as "/users/{id}" as the framework does, and
	// as Request.Route shows it then. nil: as it is.
	Pattern func(string) string

	// Errors says that handlers hand their errors to the framework, which tells
	// them to the middlewares around: ErrorHandler and CodedHandler do.
	Errors bool

	// Cannot says what the framework cannot do, and why. Cases that need it are
	// left out, and say so.
	Cannot map[Capability]string
}

// Capability is something that not every framework can do.
type Capability string

// The capabilities that cases need.
const (
	EarlyHints   Capability = "answer 103 before the final status"
	Hijack       Capability = "hand over the connection"
	HangUp       Capability = "learn that the client hung up"
	HTTP2        Capability = "speak HTTP/2"
	HandErrors   Capability = "hand a denial to the app's error handler"
	CountSlashes Capability = "count a path with a slash too many"
)

// App is an application. Each request meets Use, then its group's, then its route's.
type App struct {
	Recover bool         // the framework's recovery from panics is outermost
	Prepare bool         // then a middleware that calls [Prepare]
	Errors  string       // not "": the app's error handler answers an error with its status and this text
	Use     []Middleware // around everything, outermost first; a 404 passes them too
	Groups  []Group
	Routes  []Route
}

// Group is routes under a prefix, with middlewares of their own: a group, a
// sub-router or a mount, whichever the framework has.
type Group struct {
	Prefix string // such as "/api"
	Use    []Middleware
	Groups []Group // within it, their prefixes follow this one
	Routes []Route // their patterns follow the prefix
}

// Route is one method and pattern, and what answers there.
type Route struct {
	Method  string // "" is GET
	Pattern string // "/users/{id}"
	Use     []Middleware
	Handler HandlerKind

	Enter    func()             // not nil: what every handler calls first; it may block
	Pause    func()             // of StreamHandler
	Status   int                // of StatusHandler and CodedHandler
	Account  *ratelimit.Limiter // of CheckHandler
	Prepare  bool               // of CheckHandler: it calls [Prepare] before it asks
	Upstream string             // of ProxyHandler: a URL such as "http://127.0.0.1:8080"
}

// Middleware is one use of the adapter's Middleware, or of its Limit.
type Middleware struct {
	Limiter *ratelimit.Limiter // nil: the adapter's Limit, with the two that follow
	Limit   ratelimit.Limit
	Key     ratelimit.KeyFunc

	SkipPath   string // not "": the option Skip, true for requests of that path
	DeniedText string // not "": the option Denied, which answers 429 with this text, a space and the policy's name
	HandErrors bool   // the option that hands denials to the app's error handler
}

// HandlerKind says what a route's handler does.
type HandlerKind uint8

const (
	// OKHandler answers 200 with the text "ok".
	OKHandler HandlerKind = iota
	// ErrorHandler returns an error, or answers 500 where handlers return none.
	ErrorHandler
	// PanicHandler panics.
	PanicHandler
	// StreamHandler writes and flushes "one\n", calls Pause, and writes "two\n".
	StreamHandler
	// HintsHandler answers 103, then as OKHandler.
	HintsHandler
	// HijackHandler takes the connection over and answers by hand, as OKHandler.
	HijackHandler
	// CheckHandler asks Account about the header X-Account. It answers a denial
	// with the adapter's Deny, else as OKHandler.
	CheckHandler
	// ProxyHandler passes the request on to Upstream. The X-RateLimit headers of
	// what comes back are not passed on: the limiter's own stand.
	ProxyHandler
	// StatusHandler answers Status, with no header and no body; 0: it does nothing.
	StatusHandler
	// CodedHandler returns the framework's own error with Status, or answers it where
	// handlers return none.
	CodedHandler
)

// Run runs every case on the adapter.
func Run(t *testing.T, a Adapter) {
	if a.Pattern == nil {
		a.Pattern = func(pattern string) string { return pattern }
	}
	for _, group := range [][]testCase{
		answers(), nesting(), routes(), handlers(), prepared(), identity(), load(), waiting(), failure(), protocols(), script(),
		ends(), watched(answers(), handlers(), prepared(), failure(), protocols(), script()),
	} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				if reason, cannot := a.Cannot[c.needs]; cannot {
					t.Logf("%s cannot %s: %s", a.Name, c.needs, reason)
					return
				}
				c.run(&suite{T: t, adapter: a})
			})
		}
	}
}

// testCase is one row of the table.
type testCase struct {
	name  string
	needs Capability // "": none
	run   func(*suite)
}
