package docs_test

import (
	"log"
	"net/http"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func Example_netHTTP() {
	mux := http.NewServeMux()

	limit := httplimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP())
	log.Fatal(http.ListenAndServe(":8080", limit(mux)))
}
