package ratelimit_test

import (
	"encoding"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

var (
	_ encoding.TextMarshaler   = ratelimit.Limit{}
	_ encoding.TextUnmarshaler = (*ratelimit.Limit)(nil)
	_ encoding.TextMarshaler   = ratelimit.Algorithm(0)
	_ encoding.TextUnmarshaler = (*ratelimit.Algorithm)(nil)
)

func TestParseLimit(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  ratelimit.Limit
		again string // String of the limit
	}{
		{"100/m", ratelimit.PerMinute(100), "100/m"},
		{"1/d", ratelimit.PerDay(1), "1/d"},
		{"7/h", ratelimit.PerHour(7), "7/h"},
		{"7/s", ratelimit.PerSecond(7), "7/s"},
		{"7/ms", ratelimit.Per(7, time.Millisecond), "7/ms"},
		{"7/1m", ratelimit.PerMinute(7), "7/m"},
		{"7/60s", ratelimit.PerMinute(7), "7/m"},
		{"7/90s", ratelimit.Per(7, 90*time.Second), "7/90s"},
		{"7/1h30m", ratelimit.Per(7, 90*time.Minute), "7/90m"},
		{"7/1.5s", ratelimit.Per(7, 1500*time.Millisecond), "7/1500ms"},
		{"7/24h", ratelimit.PerDay(7), "7/d"},
		{"7/366d", ratelimit.Per(7, ratelimit.MaxWindow), "7/366d"},
		{"7/1001us", ratelimit.Per(7, 1001*time.Microsecond), "7/1001us"},
		{"7/1001µs", ratelimit.Per(7, 1001*time.Microsecond), "7/1001us"},
		{"2147483648/m", ratelimit.PerMinute(ratelimit.MaxQuota), "2147483648/m"},
		{"5000/h burst 200", ratelimit.PerHour(5000).WithBurst(200), "5000/h burst 200"},
		{"10/5m sliding_log", ratelimit.Per(10, 5*time.Minute).Using(ratelimit.SlidingLog), "10/5m sliding_log"},
		{"600/m burst 1000 gcra", ratelimit.PerMinute(600).WithBurst(1000).Using(ratelimit.GCRA), "600/m burst 1000 gcra"},
		{"9/s token_bucket", ratelimit.PerSecond(9), "9/s"},
		{"9/s leaky_bucket", ratelimit.PerSecond(9).Using(ratelimit.LeakyBucket), "9/s leaky_bucket"},
		{"9/s fixed_window", ratelimit.PerSecond(9).Using(ratelimit.FixedWindow), "9/s fixed_window"},
		{"9/s sliding_counter", ratelimit.PerSecond(9).Using(ratelimit.SlidingCounter), "9/s sliding_counter"},
		{" \t9/s\n burst   3 ", ratelimit.PerSecond(9).WithBurst(3), "9/s burst 3"},
	} {
		got, err := ratelimit.ParseLimit(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if got.String() != c.again {
			t.Errorf("%q: written again as %q, want %q", c.text, got, c.again)
		}
	}
}

func TestParseLimitRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `"100/m burst 20"`,
		"   ":                       `"100/m burst 20"`,
		"100":                       "quota and window",
		"m/100":                     `the quota "m"`,
		"/m":                        `the quota ""`,
		"1.5/m":                     `the quota "1.5"`,
		"1e3/m":                     `the quota "1e3"`,
		"9223372036854775808/m":     "the quota",
		"100/":                      `the window ""`,
		"100/x":                     `the window "x"`,
		"100/-m":                    `the window "-m"`,
		"100/m/s":                   `the window "m/s"`,
		"100/99999999999999999999d": "the window",
		"100/m burst":               "burst needs a number",
		"100/m burst x":             `the burst "x"`,
		"100/m burst 0":             `the burst "0"`,
		"100/m 20":                  `unknown algorithm "20"`,
		"100/m GCRA":                `unknown algorithm "GCRA"`,
		"100/m gcra burst 20":       `nothing is expected at "burst"`,
		"100/m burst 2 gcra now":    `nothing is expected at "now"`,
		"0/m":                       "Quota must be",
		"-5/m":                      "Quota must be",
		"2147483649/m":              "Quota must be",
		"1/0s":                      "Window must be",
		"1/-5s":                     "Window must be",
		"1/367d":                    "Window must be",
		"1/9000000000000000d":       "Window must be", // would wrap around to something small
		"1/1500us burst -1":         "Burst must be",
		"1/m burst 2 fixed_window":  "Burst belongs to",
		"0/0s":                      "Window must be",
	} {
		l, err := ratelimit.ParseLimit(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %s", text, err, want)
			continue
		}
		if l != (ratelimit.Limit{}) {
			t.Errorf("%q: a limit beside the error: %+v", text, l)
		}
		if len(fields(t, err)) == 0 {
			t.Errorf("%q: no field in %v", text, err)
		}
	}
}

func TestLimitMarshalsAsText(t *testing.T) {
	type file struct{ Login, API ratelimit.Limit }
	in := file{
		Login: ratelimit.Per(10, 5*time.Minute).Using(ratelimit.SlidingLog),
		API:   ratelimit.PerMinute(100).WithBurst(20),
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"Login":"10/5m sliding_log","API":"100/m burst 20"}`; string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var out file
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Errorf("%+v, %v; want %+v", out, err, in)
	}

	if _, err := (ratelimit.Limit{}).MarshalText(); !slices.Equal(fields(t, err), []string{"Quota", "Window"}) {
		t.Errorf("an invalid limit is written: %v", err)
	}
	kept := ratelimit.PerMinute(3)
	if err := kept.UnmarshalText([]byte("nonsense")); err == nil || kept != ratelimit.PerMinute(3) {
		t.Errorf("after nonsense the limit is %v, %v; want it as it was", kept, err)
	}
}

func TestAlgorithmText(t *testing.T) {
	names := []string{"token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_log", "sliding_counter"}
	for i, name := range names {
		a := ratelimit.Algorithm(i)
		text, err := a.MarshalText()
		if err != nil || string(text) != name || a.String() != name {
			t.Errorf("%d: %q, %q, %v; want %q", i, text, a, err, name)
		}
		var again ratelimit.Algorithm
		if err := again.UnmarshalText(text); err != nil || again != a {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	}
	none := ratelimit.Algorithm(len(names))
	if _, err := none.MarshalText(); !slices.Equal(fields(t, err), []string{"Algorithm"}) {
		t.Errorf("%v is written: %v", none, err)
	}
	if got := none.String(); got != "Algorithm(6)" {
		t.Errorf("%q", got)
	}
	if err := none.UnmarshalText([]byte("Algorithm(6)")); !slices.Equal(fields(t, err), []string{"Algorithm"}) {
		t.Errorf("read: %v", err)
	}
}

// FuzzParseLimit holds that no text panics, that what parses is valid, and that it
// is the same after it was written and read again.
func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{
		"100/m", "10/5m sliding_log", "5000/h burst 200", "600/m burst 1000 gcra", "1/1h30m", "1/366d",
		"2147483648/1ms leaky_bucket", "1/.5h", "1/1µs", "-1/m", "1/106751d23h47m16.854775807s", "+1/+1s", "0x1/m", "1/9223372036854775808d",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ratelimit.ParseLimit(text)
		if err != nil {
			if len(fields(t, err)) == 0 || l != (ratelimit.Limit{}) {
				t.Fatalf("%q: %+v, %v", text, l, err)
			}
			return
		}
		if err := l.Validate(); err != nil {
			t.Fatalf("%q: parsed to what is invalid: %v", text, err)
		}
		again, err := ratelimit.ParseLimit(l.String())
		if err != nil || again != l {
			t.Fatalf("%q: %+v is written %q and read as %+v, %v", text, l, l, again, err)
		}
	})
}
