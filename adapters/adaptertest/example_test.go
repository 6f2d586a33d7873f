package adaptertest_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
	ratelimit "github.com/weirhq/ratelimit/core"
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

// deny stands for an adapter's Deny.
func deny(w http.ResponseWriter, _ *http.Request, _ ratelimit.Decision) {
	w.WriteHeader(http.StatusTooManyRequests)
}
