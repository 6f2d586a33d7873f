package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestEncodeTake(t *testing.T) {
	now := time.UnixMicro(1000)
	e := newEncoder("rl:", func() time.Time { return now }, &spaces{})
	limit := ratelimit.PerMinute(10).WithBurst(20)
	space := ratelimit.NewSpace("policy", limit)
	penalty := ratelimit.NewPenaltySpace("penalty", ratelimit.Penalty{Denials: 3, Within: time.Second, Ban: time.Minute, Factor: 1.5})
	for _, s := range []*ratelimit.Space{space, penalty} {
		if err := e.spaces.open(s); err != nil {
			t.Fatal(err)
		}
	}
	var c call
	e.take(&c, []ratelimit.Charge{
		{Space: space, Key: []byte("a"), Limit: limit, Cost: 2, MaxDelay: time.Second, Mode: ratelimit.Force},
		{Space: penalty, Key: []byte("a"), Cost: 1, Mode: ratelimit.Strike},
		{Space: penalty, Key: []byte("b{}"), Mode: ratelimit.Strike},
	}, true)
	want := reply(1000, 1, 1+1<<6,
		0+8*2, 10, 60e6, 20, 2, 1e6,
		6+8*4, 3, 1e6, 60e6, float64(ratelimit.MaxWindow.Microseconds()), 1.5,
		6+8*5, 3, 1e6, 60e6, float64(ratelimit.MaxWindow.Microseconds()), 1.5)
	if c.arg != want {
		t.Errorf("want %x, got %x", want, c.arg)
	}
	keys := fmt.Sprintf("rl:{%s}policy:tb:60000000:a rl:{%[1]s}penalty:pn:1000000:a rl:{%s}penalty:pn:1000000:b{}", tagOf([]byte("a")), tagOf([]byte("b{}")))
	if got := strings.Join(c.keys, " "); got != keys {
		t.Errorf("want keys %s, got %s", keys, got)
	}
	if c.script != takeScript() {
		t.Errorf("got script %p", c.script)
	}
}

func TestEncodeAdjust(t *testing.T) {
	e := newEncoder("rl:", nil, &spaces{})
	limit := ratelimit.PerMinute(10).Using(ratelimit.LeakyBucket)
	space := ratelimit.NewSpace("policy", limit)
	var c call
	e.adjust(&c, []ratelimit.Adjustment{
		{Op: ratelimit.Extra, Space: space, Key: []byte("a"), Limit: limit, Units: 3, Receipt: ratelimit.Receipt{At: 4, Units: 5, End: 6}},
		{Op: ratelimit.Reset, Space: space, Key: []byte("a"), Limit: ratelimit.Limit{Algorithm: 255}},
	})
	want := reply(-1, 2, 1<<2|1<<(255%6),
		2+8*1, 10, 60e6, 10, 3, 4, 5, 6,
		255%6+8*3, 0, 0, 0, 0, 0, 0, 0)
	if c.arg != want {
		t.Errorf("want %x, got %x", want, c.arg)
	}
}

func TestTags(t *testing.T) {
	seen := map[string]int{}
	for i := range 20_000 {
		tag := tagOf(fmt.Append(nil, i))
		if len(tag) != tagLength || strings.Trim(tag, "0123456789abcdef") != "" {
			t.Fatalf("want 4 hex digits, got %q", tag)
		}
		seen[tag]++
	}
	if len(seen) < 15_000 { // of 65,536; chance has 17,230
		t.Errorf("want tags that spread, got %d of 20,000 keys", len(seen))
	}
	if tagOf(nil) != tagOf([]byte{}) {
		t.Error("want one tag for empty keys")
	}
}

// A usual Take allocates its keys' text, the list of them, and the argument.
func TestEncodeAllocations(t *testing.T) {
	e := newEncoder("rl:", nil, &spaces{})
	limit := ratelimit.PerMinute(10)
	space := ratelimit.NewSpace("policy", limit)
	if err := e.spaces.open(space); err != nil {
		t.Fatal(err)
	}
	charges := make([]ratelimit.Charge, 3)
	for i := range charges {
		charges[i] = ratelimit.Charge{Space: space, Key: []byte("203.0.113.7"), Limit: limit, Cost: 1}
	}
	results := make([]ratelimit.Result, 3)
	var c call
	text := reply(append([]float64{1000}, make([]float64, 30)...)...)
	if n := testing.AllocsPerRun(100, func() {
		if err := e.spaces.check(charges, results); err != nil {
			t.Fatal(err)
		}
		e.take(&c, charges, false)
		if err := decodeTake(text, charges, results); err != nil {
			t.Fatal(err)
		}
	}); n > 3 {
		t.Errorf("want at most 3 allocations, got %v", n)
	}
}

func TestSpaces(t *testing.T) {
	var s spaces
	limit := ratelimit.PerMinute(10).Using(ratelimit.SlidingLog)
	space := ratelimit.NewSpace("policy", limit)
	charges := []ratelimit.Charge{{Space: space, Key: []byte("a"), Limit: limit, Cost: 1}}
	results := make([]ratelimit.Result, 1)
	if err := s.check(charges, results); !errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("before Open: want ErrMisuse, got %v", err)
	}
	if err := s.open(space); err != nil {
		t.Fatal(err)
	}
	if err := s.check(charges, results); err != nil {
		t.Errorf("after Open: %v", err)
	}
	if err := s.check(charges, nil); !errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("without results: want ErrMisuse, got %v", err)
	}
	if err := s.checkAdjustment(&ratelimit.Adjustment{Op: 9, Space: space}); !errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("unknown operation: want ErrMisuse, got %v", err)
	}
	large := ratelimit.NewSpace("large", ratelimit.PerMinute(maxEntries+1).Using(ratelimit.SlidingLog))
	var config *ratelimit.ConfigError
	if err := s.open(large); !errors.As(err, &config) || config.Field != "Limit.Quota" {
		t.Errorf("a log above the bound: want a ConfigError for Limit.Quota, got %v", err)
	}
	for _, ban := range []time.Duration{time.Minute, time.Hour} {
		penalty := ratelimit.NewPenaltySpace("penalty", ratelimit.Penalty{Denials: 3, Within: time.Second, Ban: ban})
		if err := s.open(penalty); err != nil {
			t.Fatal(err)
		}
		if p, ok := s.find(penalty); !ok || p.Ban != ban || p.Factor != 1 || p.Max != ban {
			t.Errorf("want a ban of %v, got %+v", ban, p)
		}
	}
}
