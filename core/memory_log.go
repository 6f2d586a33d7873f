package ratelimit

import (
	"math/bits"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// logRef is a key's log as its slot holds it: where its block is, and which part
// of it is in use.
type logRef struct {
	block      uint32
	class      int // the block holds 1<<class entries; noBlock: there is none
	head, size int
	base       uint64
	last       int64 // the instant of the last write
}

const (
	logClasses   = 18 // up to 131,072 entries
	noBlock      = 31
	chunkEntries = 256 // of a full chunk of small blocks
)

// A log's slot: word 1 the instant; word 2 block (32 bits), size (17), class (5);
// word 3 head (17), base (47). Word 4, of strikes, is the ban: end (54), count (10).
func (t *table) log(slot int) logRef {
	w := t.words[slot : slot+t.stride-1]
	if w[2]>>54 == 0 { // a new slot
		return logRef{class: noBlock}
	}
	return logRef{
		last: int64(w[1]), block: uint32(w[2]), size: int(w[2] >> 32 & (1<<17 - 1)),
		class: int(w[2] >> 49 & 31), head: int(w[3] & (1<<17 - 1)), base: w[3] >> 17,
	}
}

func (t *table) saveLog(slot int, r logRef) {
	w := t.words[slot : slot+t.stride-1]
	w[1] = uint64(r.last)
	w[2] = uint64(r.block) | uint64(r.size)<<32 | uint64(r.class)<<49 | 1<<54
	w[3] = uint64(r.head) | r.base<<17
}

func (t *table) ban(slot int) algorithm.Ban {
	w := t.words[slot+4]
	return algorithm.Ban{Until: int64(w & (1<<54 - 1)), Count: int64(w >> 54)}
}

func (t *table) saveBan(slot int, b algorithm.Ban) {
	t.words[slot+4] = uint64(b.Until) | uint64(b.Count)<<54
}

// logArena holds the entries of a shard's logs, two words each, in blocks of 2^class
// entries out of chunks that the collector need not scan.
type logArena struct{ pools *[logClasses]logPool }

// logPool is the blocks of one class. Its first chunk is one block; each one more is
// as large as all before it, up to chunkEntries. So few logs take little room, and
// many take little more than they need.
type logPool struct {
	chunks [][]uint64
	free   uint32 // the first free block, plus one; each names the next
	made   uint32 // blocks handed out at least once
	used   uint32
}

// place returns where a block is, and how many blocks its chunk holds.
func place(class int, block uint32) (chunk int, offset, size uint32) {
	full := uint32(max(1, chunkEntries>>class)) // a power of two
	if block < full {
		chunk = bits.Len32(block)
		size = max(1, uint32(1)<<chunk>>1)
		return chunk, block & (size - 1), size
	}
	return bits.Len32(full) - 1 + int(block/full), block % full, full
}

// view returns the log for reading.
func (a *logArena) view(r logRef) algorithm.Log {
	if r.class == noBlock {
		return algorithm.Log{}
	}
	return algorithm.Log{Ring: a.words(r), Head: r.head, Len: r.size, Base: r.base}
}

// words returns the block of a log.
func (a *logArena) words(r logRef) []uint64 {
	chunk, offset, _ := place(r.class, r.block)
	width := uint32(2) << r.class
	return a.pools[r.class].chunks[chunk][offset*width:][:width:width]
}

// alloc returns a block of the class.
func (a *logArena) alloc(class int) uint32 {
	if a.pools == nil {
		a.pools = new([logClasses]logPool)
	}
	p := &a.pools[class]
	p.used++
	if p.free != 0 {
		block := p.free - 1
		p.free = uint32(a.words(logRef{block: block, class: class})[0])
		return block
	}
	if chunk, _, size := place(class, p.made); chunk == len(p.chunks) {
		p.chunks = append(p.chunks, make([]uint64, size*2<<class))
	}
	p.made++
	return p.made - 1
}

// release frees the block of a log.
func (a *logArena) release(r logRef) {
	if r.class == noBlock {
		return
	}
	a.words(r)[0] = uint64(a.pools[r.class].free)
	a.pools[r.class].free = r.block + 1
	a.pools[r.class].used--
}

// shrink gives the chunks back of classes of which no block is in use, but for a few
// small ones: logs that grow and fall back need them again.
func (a *logArena) shrink() {
	if a.pools == nil {
		return
	}
	for i := range a.pools {
		if p := &a.pools[i]; p.used == 0 && p.made<<i > chunkEntries {
			*p = logPool{}
		}
	}
}

// trim forgets the oldest entries.
func (a *logArena) trim(r *logRef, gone int) {
	if gone == 0 {
		return
	}
	l := a.view(*r)
	r.base = l.Total(gone)
	r.head, r.size = (r.head+gone)&(1<<r.class-1), r.size-gone
}

// add charges units at an instant, not before the newest entry's.
func (a *logArena) add(r *logRef, at, units int64) {
	l := a.view(*r)
	total := l.Total(l.Len)
	if l.Len > 0 && (l.Last() == at || l.Len >= algorithm.MaxEntries) {
		l.Ring[l.Index(l.Len-1)+1] = algorithm.AddTotal(total, units)
		r.last = l.Last()
		return
	}
	a.fit(r, l.Len+1)
	l = a.view(*r)
	i := l.Index(l.Len)
	l.Ring[i], l.Ring[i+1] = uint64(at), algorithm.AddTotal(total, units)
	r.size, r.last = l.Len+1, at
}

// fit moves the log to a larger block where n entries need one, and to a smaller one
// where they leave three quarters unused.
func (a *logArena) fit(r *logRef, n int) {
	class := bits.Len(uint(n - 1))
	switch {
	case r.class == noBlock:
		r.class, r.block, r.head = class, a.alloc(class), 0
		return
	case class > r.class:
	case class+2 <= r.class:
		class++
	default:
		return
	}
	l := a.view(*r)
	to := logRef{class: class, block: a.alloc(class), size: r.size, base: r.base, last: r.last}
	ring := a.words(to)
	for i := range l.Len {
		from := l.Index(i)
		ring[2*i], ring[2*i+1] = l.Ring[from], l.Ring[from+1]
	}
	a.release(*r)
	*r = to
}

// take removes up to units from the entry made at an instant, and returns how many.
func (a *logArena) take(r *logRef, at, units int64) int64 {
	l := a.view(*r)
	i := l.After(at) - 1
	if i < 0 || l.At(i) != at {
		return 0
	}
	units = min(units, l.UpTo(i+1)-l.UpTo(i))
	if units == 0 {
		return 0
	}
	emptied := l.UpTo(i+1)-l.UpTo(i) == units
	for ; i < l.Len; i++ {
		k := l.Index(i)
		if emptied {
			if i+1 == l.Len {
				break
			}
			next := l.Index(i + 1)
			l.Ring[k], l.Ring[k+1] = l.Ring[next], l.Ring[next+1]
		}
		l.Ring[k+1] = algorithm.AddTotal(l.Ring[k+1], -units)
	}
	if emptied {
		r.size--
		l.Len--
	}
	r.last = l.Last()
	return units
}
