package redisstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// spent returns how often the server ran a script, and how long it took in all, in µs.
func spent(b *testing.B, client *redis.Client) (calls, us float64) {
	b.Helper()
	for line := range strings.Lines(client.Info(b.Context(), "commandstats").Val()) {
		if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%g,usec=%g,", &calls, &us); err == nil {
			return calls, us
		}
	}
	b.Fatal("the server did not count its scripts")
	return 0, 0
}

// spend reports what the server spends on a script run by f.
func spend(b *testing.B, client *redis.Client, before, f func()) {
	b.Helper()
	before()
	f() // the server knows the script then
	calls, us := spent(b, client)
	for b.Loop() {
		before()
		f()
	}
	after, usAfter := spent(b, client)
	b.ReportMetric((usAfter-us)/(after-calls), "server-µs/op")
}

// What a decision costs the server, and how many bytes of it travel.
func BenchmarkScript(b *testing.B) {
	client := startRedis(b)
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		for _, n := range []int{1, 3} {
			for quota, name := range map[int64]string{1_000: "admitted", 1: "denied"} {
				b.Run(fmt.Sprintf("%v/charges=%d/%s", a, n, name), func(b *testing.B) {
					limit := ratelimit.Per(quota, time.Millisecond).Using(a)
					if name == "denied" {
						limit.Window = ratelimit.MaxWindow
					}
					s := storeOn(b, client, nil)
					charges := make([]ratelimit.Charge, n)
					for i := range charges {
						space := ratelimit.NewSpace(fmt.Sprint("policy", i), limit)
						if err := s.Open(space); err != nil {
							b.Fatal(err)
						}
						charges[i] = ratelimit.Charge{Space: space, Key: []byte("203.0.113.7"), Limit: limit, Cost: 1}
					}
					results := make([]ratelimit.Result, n)
					spend(b, client, func() {}, func() {
						if err := s.Take(b.Context(), charges, results); err != nil {
							b.Fatal(err)
						}
					})
					var c call
					s.encoder.take(&c, charges, false)
					b.ReportMetric(float64(len(c.arg)+len(strings.Join(c.keys, ""))), "sent-B/op")
					b.ReportMetric(float64(len(c.reply)+8*(1+resultNumbers*n)), "received-B/op")
				})
			}
		}
	}
}

// What the longest way to a denial costs the server: two keys are looked at for the wait
// after which they hold the cost together.
func BenchmarkScriptDeniedSpill(b *testing.B) {
	client := startRedis(b)
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		for _, cost := range []int64{1, 100, 10_000} {
			b.Run(fmt.Sprintf("%v/cost=%d", a, cost), func(b *testing.B) {
				s := storeOn(b, client, nil)
				filled := ratelimit.Per(maxEntries, time.Hour).Using(a)
				asked := ratelimit.Per(maxEntries-7, time.Hour).Using(a) // GCRA then converts
				var pair []ratelimit.Charge
				for i, mode := range []ratelimit.Mode{ratelimit.Enforce, ratelimit.Spill} {
					p := policyOf(b, s, fmt.Sprint("policy", i), filled)
					for range 10 {
						take(b, s, p.charge("key", maxEntries/10, ratelimit.Force))
					}
					p.limit = asked
					pair = append(pair, p.charge("key", cost, mode))
				}
				results := make([]ratelimit.Result, len(pair))
				spend(b, client, func() {}, func() {
					if err := s.Take(b.Context(), pair, results); err != nil || results[0].Allowed {
						b.Fatal(results[0], err)
					}
				})
			})
		}
	}
}

// What the longest log costs the server: 10,000 entries.
func BenchmarkScriptLongestLog(b *testing.B) {
	client := startRedis(b)
	space := ratelimit.NewLeaseSpace("policy", ratelimit.Per(maxEntries, time.Minute).Using(ratelimit.SlidingLog))
	s := newSubject(b, client, space, true)
	s.take(s.charge(1, ratelimit.Force))
	key := s.keys()[0]
	start := s.now
	log := appendNumbers(nil, 0, maxEntries, 0)
	for i := range maxEntries {
		log = appendNumbers(log, float64(start.UnixMicro()+int64(i)), float64(i+1))
	}
	fill := func(now time.Duration) func() {
		return func() {
			client.Set(b.Context(), key, log, 0)
			s.now = start.Add(now)
		}
	}
	later := func(mode ratelimit.Mode) func() { return func() { s.take(s.charge(1, mode)) } }
	adjust := func(op ratelimit.Op, i int64) func() {
		return func() {
			s.adjust(op, 1, ratelimit.Receipt{At: start.UnixMicro() + i, Units: 1})
		}
	}
	const second, minute = time.Second, time.Minute
	b.Run("denied", func(b *testing.B) { spend(b, client, fill(second), later(ratelimit.Enforce)) })
	b.Run("one expires", func(b *testing.B) { spend(b, client, fill(minute), later(ratelimit.Enforce)) })
	b.Run("half expire", func(b *testing.B) { spend(b, client, fill(minute+5010*time.Microsecond), later(ratelimit.Enforce)) })
	b.Run("all expire", func(b *testing.B) { spend(b, client, fill(minute+second), later(ratelimit.Enforce)) })
	b.Run("refund of the oldest", func(b *testing.B) { spend(b, client, fill(second), adjust(ratelimit.Refund, 0)) })
	b.Run("refund of the middle", func(b *testing.B) { spend(b, client, fill(second), adjust(ratelimit.Refund, maxEntries/2)) })
	b.Run("refund of the newest", func(b *testing.B) { spend(b, client, fill(second), adjust(ratelimit.Refund, maxEntries-1)) })
	b.Run("renewal of the middle", func(b *testing.B) { spend(b, client, fill(second), adjust(ratelimit.Renew, maxEntries/2)) })
}
