package denycache_test

import (
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

func TestConfigMistakes(t *testing.T) {
	memory := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	for _, c := range []struct {
		store  ratelimit.Store
		config denycache.Config
		want   string
	}{
		{memory, denycache.Config{}, ""},
		{memory, denycache.Config{MaxAge: us, MaxKeys: 1}, ""},
		{memory, denycache.Config{MaxAge: time.Hour, MaxKeys: 1 << 30}, ""},
		{memory, denycache.Config{MaxAge: us - 1}, "ratelimit: MaxAge must be 1µs to 1h0m0s, is 999ns"},
		{memory, denycache.Config{MaxAge: time.Hour + 1}, "ratelimit: MaxAge must be 1µs to 1h0m0s, is 1h0m0.000000001s"},
		{memory, denycache.Config{MaxKeys: 1<<30 + 1}, "ratelimit: MaxKeys must be 1 to 1073741824, is 1073741825"},
		{
			nil,
			denycache.Config{MaxAge: -1, MaxKeys: -1},
			"ratelimit: Store is nil: a cache needs one to ask\n" +
				"ratelimit: MaxAge must be 1µs to 1h0m0s, is -1ns\n" +
				"ratelimit: MaxKeys must be 1 to 1073741824, is -1",
		},
	} {
		s, err := denycache.New(c.store, c.config)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (s == nil) != (err != nil) {
			t.Errorf("%+v: error %q, want %q", c.config, got, c.want)
		}
	}
}

// On the machine's clock the store may tick up to 1 µs apart: a denial is over that
// much sooner, and told that much longer.
func TestMachineClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := ratelimit.NewMemory(ratelimit.MemoryConfig{})
		l := &lab{TB: t, asked: &counted{Store: memory}}
		l.cache = l.wrap(l.asked, denycache.Config{})
		api := l.space("api", ratelimit.PerSecond(10))
		l.take(on(api, 10))
		for i, s := range []struct {
			wait  time.Duration
			asked bool
			told  string
		}{
			{0, true, "100ms"},
			{0, false, "100.001ms"},
			{50 * time.Millisecond, false, "50.001ms"},
			{50*time.Millisecond - 2*us, false, "3µs"},
			{us, true, "1µs"},
			{us, true, "ok"},
			{0, true, "100ms"},
		} {
			time.Sleep(s.wait)
			before := l.asked.takes.Load()
			got := told(l.take(on(api, 1)))
			if asked := l.asked.takes.Load() > before; asked != s.asked || got != s.told {
				t.Errorf("step %d: asked %t, told %q; want %t, %q", i, asked, got, s.asked, s.told)
			}
		}
		l.take(key(on(api, 11), "bob"))
		r := l.take(key(on(api, 11), "bob"))[0] // a hit, in the same instant
		if l.cache.Stats().Hits != 4 || r.ResetAfter != 0 || r.NextAfter != 0 || r.RetryAfter != ratelimit.Never {
			t.Errorf("nothing is used, and never enough: %+v", r)
		}
	})
}
