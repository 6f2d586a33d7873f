package docs_test

import (
	"log"
	"net/http"

	"github.com/go-chi/chi/v5"
	chilimit "github.com/weirhq/ratelimit/adapters/chi"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func Example_chi() {
	r := chi.NewRouter()
	r.Use(chilimit.Limit(ratelimit.PerMinute(100), keyfuncs.ClientIP()))
	log.Fatal(http.ListenAndServe(":8080", r))
}
