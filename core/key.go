package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

const (
	roomForKey = 128  // a key function finds so much at least
	longKey    = 64   // what is longer is hashed
	keepKeys   = 4096 // a larger buffer is not kept for the next request
)

// The first byte of a key, so that no key of one kind meets one of another.
const (
	keyPlain  = '='
	keyHashed = '#'
	keyNone   = '!' // shared by all requests without one
)

// beginKey starts a key of a kind, with room for what a key function appends.
func (t *Ticket) beginKey(kind byte) (start int) {
	start = len(t.keys)
	t.keys = append(slices.Grow(t.keys, roomForKey), kind)
	return start
}

// endKey makes what a key function returned the ticket's, wherever it was put.
func (t *Ticket) endKey(start int, key []byte) {
	from := start + 1
	if room := t.keys[from : from+1]; len(key) > 0 && &key[0] == &room[0] && len(key) <= cap(t.keys)-from {
		t.keys = t.keys[:from+len(key)]
	} else {
		t.keys = append(t.keys[:from], key...)
	}
	t.shorten(start)
}

// key adds a key that is a string.
func (t *Ticket) key(key string) (start int) {
	start = t.beginKey(keyPlain)
	t.keys = append(t.keys, key...)
	t.shorten(start)
	return start
}

// shorten hashes a long key: what a client sends does not decide how much is stored.
func (t *Ticket) shorten(start int) {
	if len(t.keys)-start-1 > longKey {
		sum := sha256.Sum256(t.keys[start+1:])
		t.keys = hex.AppendEncode(append(t.keys[:start], keyHashed), sum[:20])
	}
}

// shownKey returns a key as observers see it: as the key function made it, or, of
// the two other kinds, "!" and "#" with a hash.
func shownKey(key []byte) []byte {
	if key[0] == keyPlain {
		return key[1:]
	}
	return key
}
