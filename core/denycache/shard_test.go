package denycache

import "testing"

// The memory of a flood goes when it is over, and that of a few stays.
func TestShardShrinks(t *testing.T) {
	for _, c := range []struct {
		denials int
		freed   bool
	}{{1, false}, {kept / 2, false}, {1000, true}} {
		sh := shard{most: 1000}
		for i := range c.denials {
			sh.put(&denial{key: fingerprint{uint64(i)}, end: 10}, 0)
		}
		for range 2 * c.denials {
			sh.find(fingerprint{1 << 32}, 10)
		}
		if len(sh.denials) != 0 || len(sh.places) != 0 || (cap(sh.denials) == 0) != c.freed {
			t.Errorf("%d denials, all over: %d left, %d places, room for %d", c.denials, len(sh.denials), len(sh.places), cap(sh.denials))
		}
	}
}
