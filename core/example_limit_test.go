package ratelimit_test

import (
	"errors"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

func ExamplePer() {
	fmt.Println(ratelimit.Per(10, 5*time.Minute))
	// Output: 10/5m
}

func ExamplePerSecond() {
	fmt.Println(ratelimit.PerSecond(50))
	// Output: 50/s
}

func ExamplePerMinute() {
	fmt.Println(ratelimit.PerMinute(100))
	// Output: 100/m
}

func ExamplePerHour() {
	fmt.Println(ratelimit.PerHour(5000))
	// Output: 5000/h
}

func ExamplePerDay() {
	fmt.Println(ratelimit.PerDay(1))
	// Output: 1/d
}

// 100 a minute, of which 20 may come at once.
func ExampleLimit_WithBurst() {
	fmt.Println(ratelimit.PerMinute(100).WithBurst(20))
	// Output: 100/m burst 20
}

func ExampleLimit_Using() {
	fmt.Println(ratelimit.Per(10, 5*time.Minute).Using(ratelimit.SlidingLog))
	// Output: 10/5m sliding_log
}

func ExampleLimit_Capacity() {
	fmt.Println(ratelimit.PerMinute(100).Capacity())
	fmt.Println(ratelimit.PerMinute(100).WithBurst(20).Capacity())
	// Output:
	// 100
	// 20
}

func ExampleLimit_String() {
	fmt.Println(ratelimit.Limit{Quota: 600, Window: time.Minute, Burst: 1000, Algorithm: ratelimit.GCRA})
	// Output: 600/m burst 1000 gcra
}

func ExampleLimit_Validate() {
	fmt.Println(ratelimit.Per(0, time.Microsecond).Validate())
	// Output:
	// ratelimit: Quota must be 1 to 2147483648, is 0
	// ratelimit: Window must be 1ms to 366 days, is 1µs
}

func ExampleLimit_MarshalText() {
	text, err := ratelimit.PerHour(5000).WithBurst(200).MarshalText()
	fmt.Println(string(text), err)
	// Output: 5000/h burst 200 <nil>
}

// So a limit can stand in JSON, in a flag, or in any configuration that knows text.
func ExampleLimit_UnmarshalText() {
	var login ratelimit.Limit
	err := login.UnmarshalText([]byte("10/5m sliding_log"))
	fmt.Println(login.Quota, login.Window, login.Algorithm, err)
	// Output: 10 5m0s sliding_log <nil>
}

func ExampleParseLimit() {
	for _, text := range []string{"100/m", "10/5m sliding_log", "600/1h30m burst 50 gcra", "100 a minute"} {
		limit, err := ratelimit.ParseLimit(text)
		fmt.Println(limit.Quota, limit.Window, limit.Capacity(), err)
	}
	// Output:
	// 100 1m0s 100 <nil>
	// 10 5m0s 10 <nil>
	// 600 1h30m0s 50 <nil>
	// 0 0s 0 ratelimit: Limit "100 a minute": want quota and window, such as "100/m"
}

func ExampleAlgorithm_String() {
	fmt.Println(ratelimit.SlidingCounter)
	// Output: sliding_counter
}

func ExampleAlgorithm_MarshalText() {
	text, err := ratelimit.GCRA.MarshalText()
	fmt.Println(string(text), err)
	// Output: gcra <nil>
}

func ExampleAlgorithm_UnmarshalText() {
	var a ratelimit.Algorithm
	fmt.Println(a.UnmarshalText([]byte("leaky_bucket")), a)
	// Output: <nil> leaky_bucket
}

// All mistakes are told at once; a program finds the fields by errors.As.
func ExampleConfigError_Error() {
	_, err := ratelimit.New(ratelimit.Config{Policies: []ratelimit.Policy{
		{Name: "login", Limit: ratelimit.PerMinute(-1)},
	}})
	fmt.Println(err)
	if wrong, ok := errors.AsType[*ratelimit.ConfigError](err); ok {
		fmt.Println("first:", wrong.Field)
	}
	// Output:
	// ratelimit: Policies[0] "login": Limit.Quota must be 1 to 2147483648, is -1
	// ratelimit: Policies[0] "login": Key is required: who is counted? (keyfuncs.ClientIP, keyfuncs.Everyone, ...)
	// first: Policies[0] "login": Limit.Quota
}

func ExamplePenalty_Validate() {
	p := ratelimit.Penalty{Denials: 5, Within: time.Minute, Ban: time.Hour, Factor: 2, Max: time.Minute}
	fmt.Println(p.Validate())
	// Output: ratelimit: Penalty.Max must be 1h0m0s to 366 days in whole microseconds, is 1m0s
}
