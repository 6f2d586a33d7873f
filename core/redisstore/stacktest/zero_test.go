package stacktest_test

import (
	"errors"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// A store that nobody made, as after an error that was ignored, is a mistake at New, in
// whatever it is wrapped.
func TestStoresThatNobodyMade(t *testing.T) {
	nobody := []ratelimit.Store{
		(*redisstore.Store)(nil), new(redisstore.Store), (*breaker.Store)(nil), new(breaker.Store),
		(*denycache.Store)(nil), new(denycache.Store), (*approx.Store)(nil), new(approx.Store),
	}
	for _, store := range nobody {
		fuse, err := breaker.New(store, breaker.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []ratelimit.Store{store, fuse} {
			_, err = ratelimit.New(ratelimit.Config{Store: s, Policies: []ratelimit.Policy{
				{Name: "api", Limit: ratelimit.PerMinute(1), Key: keyfuncs.Everyone},
			}})
			var wrong *ratelimit.ConfigError
			if !errors.As(err, &wrong) {
				t.Errorf("%T: %v", store, err)
			}
		}
		if c, ok := store.(interface{ Close() error }); ok && c.Close() != nil {
			t.Errorf("%T: closing it is an error", store)
		}
	}
}
