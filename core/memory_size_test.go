package ratelimit

import (
	"context"
	"encoding/binary"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// million charges n keys once each, from the from-th on.
func million(t testing.TB, m *Memory, s *Space, from, n int) {
	var charge [1]Charge
	var result [1]Result
	key := make([]byte, 8)
	charge[0] = Charge{Space: s, Key: key, Limit: s.Limits[0], Cost: 1}
	for i := from; i < from+n; i++ {
		binary.LittleEndian.PutUint64(key, uint64(i))
		if err := m.Take(context.Background(), charge[:], result[:]); err != nil {
			t.Fatal(err)
		}
	}
}

// heap returns the bytes in use, and how many of them the collector has to scan.
func heap() (inUse, scanned int64) {
	runtime.GC()
	runtime.GC()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}

// TestBytesAKey measures what a key costs, at the worst of 0.8 to 1.6 million keys.
func TestBytesAKey(t *testing.T) {
	if testing.Short() {
		t.Skip("fills millions of keys")
	}
	space := func(a Algorithm) *Space { return NewSpace(a.String(), PerMinute(10).Using(a)) }
	for _, c := range []struct {
		space *Space
		most  float64
	}{
		{space(TokenBucket), 72},
		{space(GCRA), 72},
		{space(LeakyBucket), 72},
		{space(FixedWindow), 72},
		{space(SlidingCounter), 72},
		{space(SlidingLog), 100},
		{NewLeaseSpace("lease", PerMinute(10).Using(SlidingLog)), 100},
	} {
		t.Run(c.space.Policy, func(t *testing.T) {
			before, scannedBefore := heap()
			clock := time.Unix(1_700_000_000, 0)
			m := NewMemory(MemoryConfig{MaxKeys: 1 << 21, Now: func() time.Time { return clock }})
			if err := m.Open(c.space); err != nil {
				t.Fatal(err)
			}
			worst, at, sum, steps := 0.0, 0, 0.0, 0
			const first, step = 800_000, 20_000
			million(t, m, c.space, 0, first)
			for n := first; n <= 1_600_000; n += step {
				after, _ := heap()
				each := float64(after-before) / float64(n)
				sum += each
				steps++
				if each > worst {
					worst, at = each, n
				}
				million(t, m, c.space, n, step)
			}
			t.Logf("%5.1f bytes a key at worst (%d keys), %5.1f on average", worst, at, sum/float64(steps))
			if n := m.Stats().Evictions; n != 0 {
				t.Errorf("%d keys were evicted below MaxKeys", n)
			}
			if worst > c.most {
				t.Errorf("%.1f bytes a key at %d keys, want at most %v", worst, at, c.most)
			}
			if _, scanned := heap(); scanned > scannedBefore+1<<20 {
				t.Errorf("the collector scans %d KiB more than before", (scanned-scannedBefore)>>10)
			}
			runtime.KeepAlive(m)
		})
	}
}

// TestBytesOfFewLogs: a key that is alone in its shard and whose log grew to ten
// entries takes a bucket of 320 bytes, blocks of 1, 2, 4, 8 and 16 entries of 16
// bytes, 24 bytes each to find them, and a table of them of 768 bytes: 1,704.
func TestBytesOfFewLogs(t *testing.T) {
	heap() // the first reading allocates
	for _, n := range []int64{1, 20, 200} {
		r := newRegulars(t, int(n), SlidingLog)
		before, _ := heap()
		r.burst(t)
		full, _ := heap()
		for range 50 {
			r.pause()
			r.burst(t)
		}
		steady, _ := heap()
		t.Logf("%d keys: %d bytes each, and %d after 50 rounds", n, (full-before)/n, (steady-before)/n)
		const most, elsewhere = 1704, 1024 // what the test's own machinery may come to
		if held := max(full, steady) - before; held > n*most+elsewhere {
			t.Errorf("%d keys: %d bytes, want at most %d each", n, held, most)
		}
		runtime.KeepAlive(r)
	}
}
