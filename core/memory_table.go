package ratelimit

import (
	"math/bits"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// table is a hash table in one slice of words, which the collector need not scan.
//
// A key may live in either of two buckets of eight slots, so that a look-up reads
// at most sixteen, however full the table, and deleting is clearing one word. A
// bucket begins with the eight tags (half the fingerprint; 0 is an empty slot): one
// cache line. The rest of each slot follows: the other half, whose low byte the
// shard's number implies and which therefore holds what the state has no room for,
// and the state.
type table struct {
	words   []uint64
	buckets uint64
	stride  int // words a slot, tag included
	keys    int
}

const (
	bucketSlots = 8
	metaBits    = 8
	metaMask    = 1<<metaBits - 1
)

// fingerprint stands for a key. The tag is never 0.
type fingerprint struct{ tag, rest uint64 }

func newTable(buckets, stride int) table {
	return table{words: make([]uint64, buckets*bucketSlots*stride), buckets: uint64(buckets), stride: stride}
}

// slots returns how many slots there are.
func (t *table) slots() int { return int(t.buckets) * bucketSlots }

// bucket returns the index of the first word of the bucket that half a fingerprint names.
func (t *table) bucket(half uint64) int {
	n, _ := bits.Mul64(half, t.buckets)
	return int(n) * bucketSlots * t.stride
}

// slot returns the index of the words of the i-th slot of the bucket at base.
func (t *table) slot(base, i int) int { return base + bucketSlots + i*(t.stride-1) }

// tags returns the tags of the bucket at base.
func (t *table) tags(base int) []uint64 { return t.words[base : base+bucketSlots : base+bucketSlots] }

// find returns the slot of the key, or -1.
func (t *table) find(fp fingerprint) int {
	if t.keys == 0 {
		return -1
	}
	for _, half := range [2]uint64{fp.tag, fp.rest} {
		base := t.bucket(half)
		for i, tag := range t.tags(base) {
			if tag != fp.tag {
				continue
			}
			if slot := t.slot(base, i); t.words[slot]>>metaBits == fp.rest>>metaBits {
				return slot
			}
		}
	}
	return -1
}

// add returns a new, zero slot for a key that is not there, in the emptier of its
// buckets, and how many slots it read. Where both are full it makes room by moving
// one of their keys to that key's other bucket; -1 where even that fails.
func (t *table) add(fp fingerprint) (slot, read int) {
	base, i := t.room(fp)
	read = 2 * bucketSlots
	for _, half := range [2]uint64{fp.tag, fp.rest} {
		if i < 0 {
			base, i = t.displace(half)
			read += displaceTries * bucketSlots
		}
	}
	if i < 0 {
		return -1, read
	}
	t.keys++
	t.words[base+i] = fp.tag
	slot = t.slot(base, i)
	clear(t.words[slot : slot+t.stride-1])
	t.words[slot] = fp.rest
	return slot, read
}

// room returns a free slot in the emptier of a key's buckets, or -1.
func (t *table) room(fp fingerprint) (base, i int) {
	first, n := t.free(t.bucket(fp.tag))
	second, m := t.free(t.bucket(fp.rest))
	if n >= m {
		return t.bucket(fp.tag), first
	}
	return t.bucket(fp.rest), second
}

// free returns the first free slot of the bucket at base, or -1, and their number.
func (t *table) free(base int) (first, n int) {
	first = -1
	for i, tag := range t.tags(base) {
		if tag == 0 {
			if n++; first < 0 {
				first = i
			}
		}
	}
	return first, n
}

const displaceTries = 4

// displace frees a slot of the bucket that half a fingerprint names.
func (t *table) displace(half uint64) (base, i int) {
	base = t.bucket(half)
	for i, tag := range t.tags(base)[:displaceTries] {
		slot := t.slot(base, i)
		other := t.bucket(tag)
		if other == base {
			other = t.bucket(t.words[slot] &^ metaMask)
		}
		if to, _ := t.free(other); to >= 0 {
			t.words[other+to] = tag
			copy(t.words[t.slot(other, to):], t.words[slot:slot+t.stride-1])
			return base, i
		}
	}
	return base, -1
}

// remove empties the i-th slot of the bucket at base.
func (t *table) remove(base, i int) {
	t.words[base+i] = 0
	t.keys--
}

// locate is the inverse of slot.
func (t *table) locate(slot int) (base, i int) {
	width := bucketSlots * t.stride
	base = slot / width * width
	return base, (slot - base - bucketSlots) / (t.stride - 1)
}

// A slot's meta byte: two bits of the instant, six bits of the limit's index.
const (
	instantBits = 51
	instantMask = 1<<instantBits - 1
	timeMeta    = 3
)

// class returns the index of the limit that the slot was last written under.
func (t *table) class(slot int) int { return int(t.words[slot] & metaMask >> 2) }

func (t *table) setClass(slot, class int) {
	t.words[slot] = t.words[slot]&^(metaMask&^timeMeta) | uint64(class)<<2
}

// load returns the state in a slot.
func (t *table) load(slot int) algorithm.State {
	w := t.words[slot : slot+t.stride-1]
	if t.stride > 4 {
		return algorithm.State{Last: int64(w[1]), Part: int64(w[2]), Rate: int64(w[3])}
	}
	// 32 bits of units, 45 of a fraction or second count, 53 of the instant.
	return algorithm.State{
		Last:  int64(w[0]&timeMeta<<instantBits | w[2]&instantMask),
		Units: int64(w[1] & (1<<32 - 1)),
		Part:  int64(w[1]>>32 | w[2]>>instantBits<<32),
	}
}

// save writes a state into a slot.
func (t *table) save(slot int, s algorithm.State, class int) {
	w := t.words[slot : slot+t.stride-1]
	meta := uint64(class) << 2
	if t.stride > 4 {
		w[1], w[2], w[3] = uint64(s.Last), uint64(s.Part), uint64(s.Rate)
	} else {
		meta |= uint64(s.Last) >> instantBits
		w[1] = uint64(s.Units) | uint64(s.Part)<<32
		w[2] = uint64(s.Last)&instantMask | uint64(s.Part)>>32<<instantBits
	}
	w[0] = w[0]&^metaMask | meta
}

// last returns the instant of the slot's last write.
func (t *table) last(slot int) int64 {
	if t.stride > 4 {
		return int64(t.words[slot+1])
	}
	return int64(t.words[slot]&timeMeta<<instantBits | t.words[slot+2]&instantMask)
}
