package std_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/weirhq/ratelimit/adapters/internal/std"
	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// Headers are the ticket's to the byte, whether a block holds them or not, and stay
// so when the ticket and the block are gone.
func TestSetHeaders(t *testing.T) {
	for _, policies := range []int{1, 2, 40} {
		config := ratelimit.Config{Headers: ratelimit.HeaderStyle{Draft: ratelimit.Draft11}}
		for i := range policies {
			config.Policies = append(config.Policies, ratelimit.Policy{
				Name: fmt.Sprintf("policy-%d", i), Limit: ratelimit.PerMinute(1), Key: keyfuncs.Everyone,
			})
		}
		limiter := ratelimit.Must(config)
		begin := func() *ratelimit.Ticket {
			return limiter.Begin(httplimit.View(httptest.NewRequest(http.MethodGet, "/", nil)))
		}
		begin().End(200, nil)

		denied, got, want := begin(), make(http.Header), make(http.Header)
		for i := 0; ; i++ {
			name, value, ok := denied.HeaderAt(i)
			if !ok {
				break
			}
			want.Set(name, string(value))
		}
		want.Set("Content-Type", "text/plain")
		std.SetHeaders(got, denied, "text/plain", new(std.Block))
		denied.End(429, nil)
		for range 10 {
			begin().End(429, nil) // uses the ticket's memory
			runtime.GC()
		}
		if len(want) < 6 || len(got) != len(want) {
			t.Errorf("%d policies: %d headers, want %d", policies, len(got), len(want))
		}
		for name, lines := range want {
			if len(got[name]) != 1 || got[name][0] != lines[0] {
				t.Errorf("%d policies: %s: %q, want %q", policies, name, got[name], lines)
			}
		}
		if length := len(strings.Join(got["Ratelimit"], "")); policies == 40 && length < 200 {
			t.Errorf("a list of %d bytes is no long one", length)
		}
	}
}
