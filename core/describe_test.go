package ratelimit_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestDescribe(t *testing.T) {
	everything := over(pol("everything", ratelimit.Per(5, 1500*time.Millisecond).WithBurst(9)), ratelimit.Delay(2*time.Second))
	everything.If = func(ratelimit.Request) bool { return true }
	everything.Vary = func(_ ratelimit.Request, l ratelimit.Limit) ratelimit.Limit { return l }
	everything.Most = ratelimit.Per(50, 1500*time.Millisecond)
	everything.NoKey, everything.OnFailure = ratelimit.NoKeyDeny, ratelimit.FailClosed
	skips := over(pol("trial", ratelimit.PerSecond(100).Using(ratelimit.FixedWindow)), ratelimit.Shadow())
	skips.NoKey = ratelimit.NoKeySkip
	limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{
		pol("login", ratelimit.Per(10, 5*time.Minute).Using(ratelimit.SlidingLog)),
		over(pol("billed", ratelimit.PerDay(1000).Using(ratelimit.SlidingCounter)), ratelimit.Meter()),
		skips, everything,
	}})
	want := `login: 10 per 5m (sliding_log), above it denied
billed: 1000 per d (sliding_counter), above it admitted and counted (meter)
trial: 100 per s (fixed_window), above it only reported (shadow); without a key unlimited
everything: 5 per 1500ms, 9 at once (token_bucket), above it delayed up to 2s, then denied; varies, at most 50 per 1500ms (token_bucket); some requests only; without a key denied; 503 while the store is down
`
	if got := limits.Describe(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}

	// The limiter's failure mode is each policy's that says nothing.
	closed := ratelimit.Must(ratelimit.Config{OnFailure: ratelimit.FailClosed, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(1))}})
	if got, want := closed.Describe(), "api: 1 per h (token_bucket), above it denied; 503 while the store is down\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cannot deny is not said to.
func TestDescribeOfShadowAndMeter(t *testing.T) {
	for want, o := range map[string]ratelimit.Over{
		"only reported (shadow)": ratelimit.Shadow(),
		// A store that is down cannot bill: that a meter may close for.
		"admitted and counted (meter); 503 while the store is down": ratelimit.Meter(),
	} {
		p := over(pol("trial", ratelimit.PerHour(1)), o)
		p.NoKey, p.OnFailure = ratelimit.NoKeyDeny, ratelimit.FailClosed
		limits := ratelimit.Must(ratelimit.Config{Policies: []ratelimit.Policy{p}})
		if got := limits.Describe(); got != "trial: 1 per h (token_bucket), above it "+want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
