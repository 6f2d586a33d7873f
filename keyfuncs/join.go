package keyfuncs

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Join returns a key function that counts by all parts together: one quota for
// each combination. A request that lacks one of them has no key.
//
// The keys are joined with "|"; where one holds a "|" or a backslash, a backslash
// goes before it. So no two combinations meet, whatever clients put into them.
func Join(parts ...ratelimit.KeyFunc) ratelimit.KeyFunc {
	parts = checked("Join", parts)
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		joined := dst
		for i, part := range parts {
			if i > 0 {
				joined = append(joined, '|')
			}
			key, err := part(spare(joined), r)
			if err != nil {
				return dst, err
			}
			joined = appendEscaped(joined, key)
		}
		return joined, nil
	}
}

// First returns a key function that counts by the first alternative that has a
// key. It moves on from [ratelimit.ErrNoKey] alone; any other error is returned.
//
// The key starts with the alternative's number, from 0, and ":", so a user who
// calls himself "203.0.113.7" does not meet that address.
func First(alternatives ...ratelimit.KeyFunc) ratelimit.KeyFunc {
	alternatives = checked("First", alternatives)
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		for i, alternative := range alternatives {
			tagged := append(strconv.AppendInt(dst, int64(i), 10), ':')
			key, err := alternative(spare(tagged), r)
			switch {
			case err == nil:
				return append(tagged, key...), nil
			case !errors.Is(err, ratelimit.ErrNoKey):
				return dst, err
			}
		}
		return dst, ratelimit.ErrNoKey
	}
}

// Prefix returns a key function whose key is text, ":" and f's key: "web:ada". It
// keeps two limiters on one store apart although their policies have the same
// names, and tells who reads a log what kind of key this is. Within one limiter the
// policies' names do that already. It has nothing to do with the path.
//
// Two prefixes never meet, since text cannot hold ":". A key without prefix can be
// anything, so give each limiter its own.
func Prefix(text string, f ratelimit.KeyFunc) ratelimit.KeyFunc {
	var mistakes []error
	if text == "" || strings.Contains(text, ":") {
		mistakes = append(mistakes, mistake("Prefix", `needs a text without ":", has %q`, text))
	}
	if f == nil {
		mistakes = append(mistakes, mistake("Prefix", "needs a key function"))
	}
	if err := errors.Join(mistakes...); err != nil {
		panic(err)
	}
	text += ":"
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		prefixed := append(dst, text...)
		key, err := f(spare(prefixed), r)
		if err != nil {
			return dst, err
		}
		return append(prefixed, key...), nil
	}
}

// spare returns the unused rest of b, for a key function of the user's: it can
// neither read nor change what b holds, and where it returns a slice of its own,
// or a part of the rest, appending that to b is right all the same.
func spare(b []byte) []byte { return b[len(b):] }

// appendEscaped appends key with a backslash before each "|" and backslash. The
// key may lie in the unused rest of dst.
func appendEscaped(dst, key []byte) []byte {
	from := len(dst)
	dst = append(dst, key...)
	extra := bytes.Count(dst[from:], []byte{'|'}) + bytes.Count(dst[from:], []byte{'\\'})
	if extra == 0 {
		return dst
	}
	dst = slices.Grow(dst, extra)
	read := len(dst)
	dst = dst[:read+extra]
	for write := len(dst); read < write; { // from the right, in place
		read--
		write--
		dst[write] = dst[read]
		if c := dst[read]; c == '|' || c == '\\' {
			write--
			dst[write] = '\\'
		}
	}
	return dst
}

// checked returns a copy, which the caller's slice can no longer change.
func checked(function string, fs []ratelimit.KeyFunc) []ratelimit.KeyFunc {
	if len(fs) == 0 {
		panic(mistake(function, "needs at least one key function"))
	}
	if i := slices.IndexFunc(fs, func(f ratelimit.KeyFunc) bool { return f == nil }); i >= 0 {
		panic(mistake(function, "has no key function at position %d", i))
	}
	return slices.Clone(fs)
}
