package redisstore

import (
	"bytes"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// grouping names the group of a key: what is in one group goes in one call.
type grouping func(space *ratelimit.Space, key []byte) string

// byTag groups what shares a hash tag, and so a slot.
func byTag(_ *ratelimit.Space, key []byte) string { return tagOf(key) }

// byKey sets every stored key apart: while a slot is being moved, each of its keys is
// on one of two nodes.
func byKey(space *ratelimit.Space, key []byte) string { return string(space.Prefix) + string(key) }

// group returns the positions that share a name, in order of their first. The names
// are those of 0 to n-1.
func group(n int, name func(i int) string) [][]int {
	var groups [][]int
	known := make(map[string]int, n)
	for i := range n {
		g, ok := known[name(i)]
		if !ok {
			g = len(groups)
			known[name(i)] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// pick returns the elements at some positions.
func pick[T any](all []T, at []int) []T {
	picked := make([]T, len(at))
	for i, j := range at {
		picked[i] = all[j]
	}
	return picked
}

// sameTag reports whether all charges share a hash tag. Usually they share the key.
func sameTag(charges []ratelimit.Charge) bool {
	first := charges[0].Key
	for i := range charges[1:] {
		if key := charges[i+1].Key; !bytes.Equal(key, first) && tagOf(key) != tagOf(first) {
			return false
		}
	}
	return true
}

// spills reports whether charges depend on each other, so that they have to be decided
// together.
func spills(charges []ratelimit.Charge) bool {
	for i := range charges {
		if charges[i].Mode == ratelimit.Spill {
			return true
		}
	}
	return false
}
