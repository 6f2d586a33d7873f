package ratelimit

import (
	"math/rand/v2"
	"testing"
)

// TestLogArena: logs of all lengths, against slices.
func TestLogArena(t *testing.T) {
	type entry struct{ at, units int64 }
	var arena logArena
	rnd := rand.New(rand.NewPCG(3, 4))
	refs := make([]logRef, 20)
	want := make([][]entry, len(refs))
	for i := range refs {
		refs[i] = logRef{class: noBlock}
		arena.fit(&refs[i], 1)
		refs[i].base = 1<<47 - 1 - rnd.Uint64N(1<<22) // totals wrap
	}
	now := int64(1)
	for step := range 200_000 {
		i := rnd.IntN(1 + rnd.IntN(len(refs))) // some logs are much longer
		r, w := &refs[i], want[i]
		now += rnd.Int64N(2)
		switch p := rnd.IntN(20); {
		case p < 14:
			units := 1 + rnd.Int64N(1<<20)
			arena.add(r, now, units)
			if n := len(w); n > 0 && w[n-1].at == now {
				w[n-1].units += units
			} else {
				w = append(w, entry{now, units})
			}
		case p < 18 && len(w) > 0:
			k := rnd.IntN(len(w))
			units := rnd.Int64N(2 * w[k].units)
			if got, most := arena.take(r, w[k].at, units), min(units, w[k].units); got != most {
				t.Fatalf("step %d: %d units taken out, want %d", step, got, most)
			}
			if w[k].units -= min(units, w[k].units); w[k].units == 0 {
				w = append(w[:k], w[k+1:]...)
			}
		case len(w) > 0:
			k := rnd.IntN(len(w)/4 + 1)
			arena.trim(r, k)
			w = w[k:]
		}
		want[i] = w
		l := arena.view(*r)
		if l.Len != len(w) {
			t.Fatalf("step %d: %d entries, want %d", step, l.Len, len(w))
		}
		for k, e := range w {
			if l.At(k) != e.at || l.UpTo(k+1)-l.UpTo(k) != e.units {
				t.Fatalf("step %d: entry %d is %d units at %d, want %+v", step, k, l.UpTo(k+1)-l.UpTo(k), l.At(k), e)
			}
		}
		if len(w) > 500 {
			arena.trim(r, len(w)-1)
			want[i] = w[len(w)-1:]
		}
	}
	for i := range refs {
		arena.release(refs[i])
	}
	arena.shrink()
	for class := range arena.pools {
		if p := arena.pools[class]; p.used != 0 || int(p.made)<<class > chunkEntries {
			t.Errorf("class %d: %d blocks are still in use, room for %d held", class, p.used, p.made)
		}
	}
}

// TestLogsShrink: a log that was long and is short again leaves its block for one of
// at most four times its length.
func TestLogsShrink(t *testing.T) {
	for _, left := range []int{0, 1, 5, 100, 400} {
		var arena logArena
		r := logRef{class: noBlock}
		now := int64(1)
		add := func(n int) {
			for range n {
				now++
				arena.add(&r, now, 1)
			}
		}
		add(1000)
		arena.trim(&r, 1000-left)
		add(1)
		if room := 1 << r.class; r.size != left+1 || room < r.size || room > 4*r.size {
			t.Errorf("%d entries of what was 1000 have a block for %d", r.size, room)
		}
		if n := arena.blocks(); n != 1 {
			t.Errorf("one log has %d blocks", n)
		}
		l := arena.view(r)
		for i := range l.Len {
			if want := now - int64(l.Len-1-i); l.At(i) != want || l.UpTo(i+1) != int64(i+1) {
				t.Fatalf("entry %d of %d: at %d, %d up to it; want at %d", i, l.Len, l.At(i), l.UpTo(i+1), want)
			}
		}
		arena.release(r)
	}
}
