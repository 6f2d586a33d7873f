package adaptertest_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// An adapter's test builds apps with its framework. This one knows routes only;
// the tests of net/http and chi are whole ones.
func ExampleRun() {
	serve := func(tb testing.TB, app adaptertest.App, l net.Listener) {
		mux := http.NewServeMux()
		for _, route := range app.Routes {
			mux.Handle(route.Pattern, adaptertest.Handler(route, deny))
		}
		adaptertest.ServeHTTP(tb, mux, l)
	}
	_ = func(t *testing.T) {
		adaptertest.Run(t, adaptertest.Adapter{
			Name: "mine", Serve: serve,
			Cannot: map[adaptertest.Capability]string{
				adaptertest.HangUp: "the framework tells handlers nothing of the connection",
			},
		})
	}
}

func ExampleHandler() {
	route := adaptertest.Route{Pattern: "/", Handler: adaptertest.CheckHandler}
	http.Handle(route.Pattern, adaptertest.Handler(route, deny))
}

func ExampleRecover() {
	http.Handle("/panics", adaptertest.Recover(adaptertest.Handler(adaptertest.Route{Handler: adaptertest.PanicHandler}, deny)))
}

func ExampleServeHTTP() {
	_ = func(t *testing.T, l net.Listener) {
		adaptertest.ServeHTTP(t, http.NotFoundHandler(), l)
	}
}

func ExamplePrepare() {
	http.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		adaptertest.Prepare(w.Header().Set) // and then find that the account is over its limit
		deny(w, r, ratelimit.Decision{})
	})
}

func ExamplePrepared() {
	http.Handle("/prepared", adaptertest.Prepared(adaptertest.Handler(adaptertest.Route{}, deny)))
}

func ExampleAllocs() {
	build := func(app adaptertest.App) http.Handler {
		mux := http.NewServeMux()
		for _, route := range app.Routes {
			mux.Handle(route.Pattern, adaptertest.Handler(route, deny))
		}
		return mux
	}
	_ = func(t *testing.T) { adaptertest.Allocs(t, 1, 2, build) }
}

func ExamplePanics() {
	_ = func(t *testing.T) {
		adaptertest.Panics(t, map[string]func(){
			"limiter": func() { httplimit.Middleware(nil) },
		})
	}
}

func ExamplePassesPanic() {
	_ = func(t *testing.T) {
		adaptertest.PassesPanic(t, func(explode func()) {
			limit := httplimit.Limit(ratelimit.PerMinute(5), keyfuncs.Everyone)
			app := limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { explode() }))
			app.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		})
	}
}

// deny stands for an adapter's Deny.
func deny(w http.ResponseWriter, _ *http.Request, _ ratelimit.Decision) {
	w.WriteHeader(http.StatusTooManyRequests)
}
