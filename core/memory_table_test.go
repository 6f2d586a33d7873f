package ratelimit

import (
	"math/rand/v2"
	"testing"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// TestShardAgainstMap adds, changes and drops keys at random, and compares with a map.
func TestShardAgainstMap(t *testing.T) {
	for _, stride := range []int{4, 5} {
		kind := algorithm.KindTokenBucket
		if stride == 5 {
			kind = algorithm.KindGCRA
		}
		sp := &memorySpace{stride: stride, kind: kind, window: 1000, maxKeys: 1 << 40}
		sp.limits.Store(new([]Limit))
		var sh memoryShard
		rnd := rand.New(rand.NewPCG(1, uint64(stride)))
		want := map[fingerprint]algorithm.State{}
		var keys []fingerprint
		state := func() algorithm.State {
			s := algorithm.State{Last: rnd.Int64N(1 << 53), Units: rnd.Int64N(1 << 32), Part: rnd.Int64N(1 << 45)}
			if stride == 5 {
				s = algorithm.State{Last: s.Last, Part: rnd.Int64N(1<<62 + 1), Rate: 1 + rnd.Int64N(1<<31)}
			}
			return s
		}
		for step := range 300_000 {
			// Grow for a while, then shrink for a while.
			switch p := rnd.IntN(10); {
			case p < 5 && step/50_000%2 == 0 || p < 2:
				fp := fingerprint{rnd.Uint64() | 1, rnd.Uint64() &^ metaMask}
				tb, slot, evicted := sh.add(sp, fp, 0)
				if evicted != 0 {
					t.Fatalf("step %d: %d keys were evicted", step, evicted)
				}
				s, class := state(), rnd.IntN(otherLimit+1)
				tb.save(slot, s, class)
				if tb.class(slot) != class {
					t.Fatalf("step %d: class %d was saved as %d", step, class, tb.class(slot))
				}
				want[fp] = s
				keys = append(keys, fp)
			case p < 8 && len(keys) > 0:
				i := rnd.IntN(len(keys))
				tb, slot := sh.find(keys[i])
				sh.drop(sp, tb, slot)
				delete(want, keys[i])
				keys[i] = keys[len(keys)-1]
				keys = keys[:len(keys)-1]
				if step%1000 == 0 {
					for sh.old.buckets > 0 {
						sh.move(sp, 1, 0)
					}
					sh.shrink(sp)
				}
			case len(keys) > 0:
				fp := keys[rnd.IntN(len(keys))]
				tb, slot := sh.find(fp)
				if slot < 0 || tb.load(slot) != want[fp] {
					t.Fatalf("step %d: key %x has slot %d", step, fp, slot)
				}
			}
			if int64(len(want)) != sp.keys.Load() || len(want) != sh.live.keys+sh.old.keys {
				t.Fatalf("step %d: %d + %d keys, %d counted, want %d", step, sh.live.keys, sh.old.keys, sp.keys.Load(), len(want))
			}
		}
		for fp, s := range want {
			if tb, slot := sh.find(fp); slot < 0 || tb.load(slot) != s {
				t.Fatalf("key %x is lost", fp)
			}
		}
	}
}

// TestTableSize: a shard's sizes grow by half, and shards differ.
func TestTableSize(t *testing.T) {
	for shard := range maxShards {
		for n := 3; n < 1<<20; {
			size := tableSize(n, shard)
			if size < n || tableSize(size, shard) != size {
				t.Fatalf("shard %d: size %d for %d buckets", shard, size, n)
			}
			if next := tableSize(size+1, shard); float64(next) > 1.5*float64(size)+2 {
				t.Fatalf("shard %d: from %d to %d buckets", shard, size, next)
			}
			n = size + 1
		}
	}
	if a, b := tableSize(1000, 0), tableSize(1000, 128); a == b {
		t.Errorf("shards 0 and 128 both have %d buckets", a)
	}
}
