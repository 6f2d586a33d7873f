package redisstore

import (
	"encoding/hex"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const tagLength = 4

// tagOf returns the hash tag of a charge's key, 4 hex digits: equal keys share a slot,
// whatever is in them, and all tags together spread over the slots.
func tagOf(key []byte) string {
	var b [tagLength]byte
	return string(appendTag(b[:0], key))
}

func appendTag(dst, key []byte) []byte {
	h := uint32(2166136261) // FNV-1a
	for _, c := range key {
		h = (h ^ uint32(c)) * 16777619
	}
	h ^= h >> 16
	return hex.AppendEncode(dst, []byte{byte(h >> 8), byte(h)})
}

// appendKey appends the key under which a charge's state is stored. The tag is the only
// text in braces that a cluster looks at, since the prefix has none.
func appendKey(dst []byte, prefix string, space *ratelimit.Space, key []byte) []byte {
	dst = append(append(dst, prefix...), '{')
	dst = append(appendTag(dst, key), '}')
	dst = append(dst, space.Prefix...)
	return append(dst, key...)
}
