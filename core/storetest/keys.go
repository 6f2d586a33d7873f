package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// keyChecks hold what names a counter.
func keyChecks() []check {
	window := []ratelimit.Algorithm{ratelimit.FixedWindow}
	return []check{
		{"keys", "that differ are counted apart", window, "", keysApart},
		{"keys", "of any length are counted apart", window, "", longKeys},
		{"keys", "of two policies never meet", window, "", policiesApart},
		{"keys", "of spaces of one prefix are shared", window, "", prefixShared},
		{"keys", "of a changed window or algorithm start anew", window, "", otherWindow},
	}
}

// apart fails the test unless every key has a counter of its own.
func apart(t testing.TB, accounts []account) {
	t.Helper()
	for i, acc := range accounts {
		acc.admit(int64(1 + i%9))
	}
	for i, acc := range accounts {
		acc.used(int64(1 + i%9))
	}
}

func keysApart(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 10, time.Minute))
	keys := []string{
		"", "a", "aa", "aaa", "b", "A", ":", "a:", ":a", "a:b", "a b", "\x00", "\x00a", "a\x00", "\n", "a\n", "\r\n", "{", "}", "{a}", "{a}b", "b{a}",
		"{}", "%", "%s", "%00", "*", "?", "[a]", "\\", "'", "\"", "\xff", "\xff\xfe", "é", "e\u0301", "日本", "0", "00", "1", "-1", "1e3", "nil", "null",
	}
	var accounts []account
	for _, key := range keys {
		accounts = append(accounts, acc.of(key))
	}
	apart(t, accounts)
}

func longKeys(t testing.TB, h Harness) {
	acc := newLab(t, h).account("policy", per(ratelimit.FixedWindow, 10, time.Minute))
	var accounts []account
	for _, n := range []int{31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 1 << 10, 1 << 16, 1 << 20} {
		long := strings.Repeat("k", n)
		accounts = append(accounts, acc.of(long), acc.of(long[:n-1]+"a"), acc.of("a"+long[1:]))
	}
	slices.SortFunc(accounts, func(a, b account) int { return strings.Compare(a.key, b.key) })
	apart(t, accounts)
}

func policiesApart(t testing.TB, h Harness) {
	l := newLab(t, h)
	limit := per(ratelimit.FixedWindow, 10, time.Minute)
	short, long, longer := l.account("a", limit), l.account("aa", limit), l.account("a.a", limit)
	apart(t, []account{short.of("ab"), long.of("b"), short.of("aab"), long.of("ab"), longer.of("b"), short.of("b"), short.of(".ab"), longer.of("")})
}

func prefixShared(t testing.TB, h Harness) {
	l := newLab(t, h)
	limit := per(ratelimit.FixedWindow, 10, time.Minute)
	l.account("policy", limit).admit(4)
	second := l.account("policy", per(ratelimit.FixedWindow, 20, time.Minute))
	second.used(4)
	second.admit(16)
	l.account("policy", limit).used(20)
}

func otherWindow(t testing.TB, h Harness) {
	l := newLab(t, h)
	minute := l.account("policy", per(ratelimit.FixedWindow, 10, time.Minute))
	minute.admit(10)
	l.account("policy", per(ratelimit.FixedWindow, 10, time.Hour)).used(0)
	for _, a := range h.algorithms() {
		if a != ratelimit.FixedWindow {
			l.account("policy", per(a, 10, time.Minute)).used(0)
		}
	}
	minute.used(10)
}
