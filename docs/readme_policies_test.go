package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

func Example_policies() {
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "rate", Limit: ratelimit.PerSecond(10).WithBurst(50), Key: keyfuncs.ClientIP()},
		{
			Name: "upload", Limit: ratelimit.PerHour(1000), Key: keyfuncs.ClientIP(),
			If:   func(r ratelimit.Request) bool { return r.Method() == "POST" },
			Cost: keyfuncs.BodySize(1<<20, 100), // a unit for each MiB, 100 at most
		},
		{
			Name: "smooth", Limit: ratelimit.PerMinute(60).WithBurst(5), Key: keyfuncs.APIKey("X-Api-Key"),
			NoKey: ratelimit.NoKeySkip,
			Over:  ratelimit.Delay(2 * time.Second),
		},
		{Name: "trial", Limit: ratelimit.PerMinute(20), Key: keyfuncs.ClientIP(), Over: ratelimit.Shadow()},
	}})

	app := httplimit.Middleware(limits)(http.NotFoundHandler())
	for _, body := range []string{"", strings.Repeat("x", 3<<20)} {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Println(w.Header().Get("X-RateLimit-Limit"), w.Header().Get("X-RateLimit-Remaining"))
	}
	fmt.Print(limits.Describe())
	// Output:
	// 50 49
	// 50 48
	// rate: 10 per s, 50 at once (token_bucket), above it denied
	// upload: 1000 per h (token_bucket), above it denied; some requests only
	// smooth: 60 per m, 5 at once (token_bucket), above it delayed up to 2s, then denied; without a key unlimited
	// trial: 20 per m (token_bucket), above it only reported (shadow)
}

func Example_proxies() {
	key := keyfuncs.ClientIP(keyfuncs.TrustProxies("10.0.0.0/8"))

	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "10.0.0.1:5000"
	r.Header.Set("X-Forwarded-For", "198.51.100.9, 203.0.113.7, 10.0.0.2")
	text, err := key(nil, ratelimit.NewRequest(httplimit.View(r)))
	fmt.Println(string(text), err)
	// Output: 203.0.113.7 <nil>
}
