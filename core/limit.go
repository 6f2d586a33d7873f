package ratelimit

import (
	"fmt"
	"time"
)

// Algorithm says how a limit counts. The zero value is TokenBucket.
type Algorithm uint8

// The algorithms. With quota N a window W and, for the three buckets, capacity
// B (Limit.Burst, or N), each admits in any span of length T at most:
const (
	TokenBucket    Algorithm = iota // B + N·T/W; refills continuously
	GCRA                            // the same, held as one instant (ITU-T I.371)
	LeakyBucket                     // a queue: what is admitted departs evenly, W/N apart
	FixedWindow                     // N a window, 2N in a span of W
	SlidingLog                      // N in any span of W, at 16 bytes a charge
	SlidingCounter                  // about N; 2N in a span of W, adversarially
	numAlgorithms
)

// The ranges of a limit's fields.
const (
	MaxQuota  = 1 << 31               // of Quota and Burst, in units
	MinWindow = time.Millisecond      // of Window
	MaxWindow = 366 * 24 * time.Hour  // of Window
	maxGCRA   = 3650 * 24 * time.Hour // B·W/N of a GCRA limit
)

var algorithmNames = [numAlgorithms]string{
	TokenBucket: "token_bucket", GCRA: "gcra", LeakyBucket: "leaky_bucket",
	FixedWindow: "fixed_window", SlidingLog: "sliding_log", SlidingCounter: "sliding_counter",
}

// String returns the name that the text forms use, such as "token_bucket".
func (a Algorithm) String() string {
	if a < numAlgorithms {
		return algorithmNames[a]
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

// MarshalText implements [encoding.TextMarshaler].
func (a Algorithm) MarshalText() ([]byte, error) {
	if a >= numAlgorithms {
		return nil, &ConfigError{Field: "Algorithm", Reason: "is unknown: " + a.String()}
	}
	return []byte(a.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Algorithm) UnmarshalText(text []byte) error {
	for i, name := range algorithmNames {
		if name == string(text) {
			*a = Algorithm(i)
			return nil
		}
	}
	return &ConfigError{Field: "Algorithm", Reason: fmt.Sprintf("is unknown: %q", text)}
}

// bucket reports whether the algorithm has a capacity of its own.
func (a Algorithm) bucket() bool { return a <= LeakyBucket }

// Limit is a rate: Quota units per Window, counted by Algorithm. It models what
// an API's documentation promises ("100 requests a minute, bursts up to 20").
//
// The zero Limit is invalid. A Limit is a comparable value, safe to copy and to
// share. Most callers start from [PerMinute] or one of its siblings.
type Limit struct {
	Algorithm Algorithm     // how it counts; zero is TokenBucket
	Quota     int64         // units per Window, 1 to MaxQuota
	Window    time.Duration // MinWindow to MaxWindow, in whole microseconds
	Burst     int64         // capacity of a bucket, up to MaxQuota; 0 means Quota. Buckets only
}

// Per returns a limit of n units per window, as a token bucket.
func Per(n int64, window time.Duration) Limit { return Limit{Quota: n, Window: window} }

// PerSecond returns a limit of n units a second, as a token bucket.
func PerSecond(n int64) Limit { return Per(n, time.Second) }

// PerMinute returns a limit of n units a minute, as a token bucket.
func PerMinute(n int64) Limit { return Per(n, time.Minute) }

// PerHour returns a limit of n units an hour, as a token bucket.
func PerHour(n int64) Limit { return Per(n, time.Hour) }

// PerDay returns a limit of n units per 24 hours, as a token bucket.
func PerDay(n int64) Limit { return Per(n, 24*time.Hour) }

// WithBurst returns the limit with a bucket capacity of n units: how much may
// come at once after a pause. 0 means Quota.
func (l Limit) WithBurst(n int64) Limit { l.Burst = n; return l }

// Using returns the limit counted by a.
func (l Limit) Using(a Algorithm) Limit { l.Algorithm = a; return l }

// Capacity returns the most units that can be admitted at one instant: Burst
// (or Quota, where Burst is 0) for buckets, Quota for windows.
func (l Limit) Capacity() int64 {
	if l.Burst != 0 && l.Algorithm.bucket() {
		return l.Burst
	}
	return l.Quota
}

// part returns a share of the limit, at least one unit, for an instance that counts
// by itself.
func (l Limit) part(share float64) Limit {
	of := func(n int64) int64 {
		return max(1, int64(float64(n)*share+1e-6)) // 98 times 1.0/49 is 2, which doubles miss
	}
	capacity := of(l.Capacity())
	l.Quota = of(l.Quota)
	if l.Algorithm == GCRA { // which a slower rate must not make too large to hold
		capacity = min(capacity, int64(maxGCRA)/l.interval())
	}
	if l.Algorithm.bucket() {
		l.Burst = capacity
	}
	return l
}

// interval returns the ns of a unit, rounded up.
func (l Limit) interval() int64 { return (int64(l.Window) + l.Quota - 1) / l.Quota }

// Validate returns everything that is wrong with the limit, as *[ConfigError]
// values joined, or nil. New calls it for every policy.
func (l Limit) Validate() error {
	var bad problems
	if l.Algorithm >= numAlgorithms {
		bad.add("Algorithm", "is unknown: %v", l.Algorithm)
	}
	if l.Quota < 1 || l.Quota > MaxQuota {
		bad.add("Quota", "must be 1 to %d, is %d", int64(MaxQuota), l.Quota)
	}
	switch {
	case l.Window < MinWindow || l.Window > MaxWindow:
		bad.add("Window", "must be %v to 366 days, is %v", MinWindow, l.Window)
	case l.Window%time.Microsecond != 0:
		bad.add("Window", "must be whole microseconds, is %v", l.Window)
	}
	switch {
	case l.Burst < 0 || l.Burst > MaxQuota:
		bad.add("Burst", "must be 0 (Quota) to %d, is %d", int64(MaxQuota), l.Burst)
	case l.Burst != 0 && !l.Algorithm.bucket():
		bad.add("Burst", "belongs to the bucket algorithms, not to %v", l.Algorithm)
	}
	if bad == nil && l.Algorithm == GCRA {
		switch interval := l.interval(); {
		case l.Quota > int64(l.Window):
			bad.add("Quota", "of GCRA must be at most one unit a nanosecond, is %d per %v", l.Quota, l.Window)
		case l.Capacity() > int64(maxGCRA)/interval:
			bad.add("Burst", "of GCRA must refill within ten years: %d units, %d ns each", l.Capacity(), interval)
		}
	}
	return bad.join()
}
