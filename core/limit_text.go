package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseLimit reads the text form of a limit, as configuration files and flags hold
// it: a quota, a slash, a window, and optionally a burst and an algorithm.
//
//	100/m
//	10/5m sliding_log
//	5000/h burst 200
//	600/m burst 1000 gcra
//
// A window is d, h, m, s or ms, with a whole number before it or not, or any
// [time.ParseDuration] text such as 1h30m. The limit is valid, or the error says
// what is wrong with it.
func ParseLimit(text string) (Limit, error) {
	bad := func(format string, args ...any) (Limit, error) {
		return Limit{}, &ConfigError{Field: "Limit", Reason: fmt.Sprintf("%q: ", text) + fmt.Sprintf(format, args...)}
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return bad(`want something like "100/m burst 20"`)
	}
	quota, window, ok := strings.Cut(words[0], "/")
	if !ok {
		return bad(`want quota and window, such as "100/m"`)
	}
	var l Limit
	var err error
	if l.Quota, err = strconv.ParseInt(quota, 10, 64); err != nil {
		return bad("the quota %q is not a whole number", quota)
	}
	if l.Window, err = parseWindow(window); err != nil {
		return bad("the window %q is not a duration", window)
	}
	words = words[1:]
	if len(words) > 0 && words[0] == "burst" {
		if len(words) < 2 {
			return bad("burst needs a number")
		}
		if l.Burst, err = strconv.ParseInt(words[1], 10, 64); err != nil || l.Burst == 0 {
			return bad("the burst %q is not a whole number above 0", words[1])
		}
		words = words[2:]
	}
	if len(words) > 0 {
		if err := l.Algorithm.UnmarshalText([]byte(words[0])); err != nil {
			return bad("unknown algorithm %q", words[0])
		}
		words = words[1:]
	}
	if len(words) > 0 {
		return bad("nothing is expected at %q", words[0])
	}
	var checked problems
	checked.under(fmt.Sprintf("Limit %q: ", text), l.Validate())
	if checked != nil {
		return Limit{}, checked.join()
	}
	return l, nil
}

func parseWindow(s string) (time.Duration, error) {
	n := strings.TrimLeft(s, "0123456789")
	for _, u := range units {
		if n != u.name {
			continue
		}
		count, err := int64(1), error(nil)
		if len(n) < len(s) {
			count, err = strconv.ParseInt(s[:len(s)-len(n)], 10, 64)
		}
		if err == nil && count > int64(MaxWindow/u.size) {
			count = int64(MaxWindow/u.size) + 1 // out of range, whatever it is
		}
		return time.Duration(count) * u.size, err
	}
	return time.ParseDuration(s)
}

// String returns the text form that [ParseLimit] reads.
func (l Limit) String() string {
	s := strconv.FormatInt(l.Quota, 10) + "/" + windowText(l.Window)
	if l.Burst != 0 {
		s += " burst " + strconv.FormatInt(l.Burst, 10)
	}
	if l.Algorithm != TokenBucket {
		s += " " + l.Algorithm.String()
	}
	return s
}

// MarshalText implements [encoding.TextMarshaler]. An invalid limit is an error.
func (l Limit) MarshalText() ([]byte, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	return []byte(l.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]: see [ParseLimit].
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := ParseLimit(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

var units = []struct {
	name string
	size time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}}

// windowText returns the shortest text for a window: "m", "5m", "1500ms".
func windowText(w time.Duration) string {
	for _, u := range units {
		if w == u.size {
			return u.name
		}
		if w%u.size == 0 {
			return fmt.Sprintf("%d%s", w/u.size, u.name)
		}
	}
	return w.String()
}
