package ratelimit

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// mostSlots is the most slots that one call reads, whatever the table's size.
const mostSlots = 1000

// TestWorkOfACall fills a million keys, lets all of them expire, and goes on with
// calls for ten other keys: no call does much, and in the end the memory is back.
func TestWorkOfACall(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a million keys")
	}
	for _, algorithm := range []Algorithm{TokenBucket, GCRA, SlidingLog} {
		t.Run(algorithm.String(), func(t *testing.T) {
			empty, _ := heap()
			clock := time.Unix(1_700_000_000, 0)
			m := NewMemory(MemoryConfig{Now: func() time.Time { return clock }})
			s := NewSpace("p", PerMinute(10).Using(algorithm))
			if err := m.Open(s); err != nil {
				t.Fatal(err)
			}
			charge := []Charge{{Space: s, Limit: s.Limits[0], Cost: 1}}
			result := make([]Result, 1)
			most := 0
			call := func(key string) {
				// Only the shard of the key and the one being swept can have been read:
				// summing 256 of them each time would take minutes.
				charge[0].Key = []byte(key)
				sp := s.memory.Load()
				own, _, _ := m.locate(sp, charge[0].Key)
				swept := &sp.shards[m.sweep.cursor.Load()%maxShards]
				read := func() int {
					if own == swept {
						return own.visited
					}
					return own.visited + swept.visited
				}
				before := read()
				if err := m.Take(context.Background(), charge, result); err != nil {
					t.Fatal(err)
				}
				most = max(most, read()-before)
			}
			const keys = 1_000_000
			for i := range keys {
				clock = clock.Add(20 * time.Microsecond)
				call(fmt.Sprint("old", i))
			}
			full, _ := heap()
			filling := most
			most = 0
			clock = clock.Add(10 * time.Minute)
			calls := 0
			for ; calls < 200_000 && m.Stats().Keys > 10; calls++ {
				clock = clock.Add(time.Millisecond)
				call(fmt.Sprint("new", calls%10))
			}
			back, _ := heap()
			t.Logf("most slots read by a call: %d filling, %d expiring; %d calls until %d keys were left; heap %d → %d → %d KiB",
				filling, most, calls, m.Stats().Keys, empty>>10, full>>10, back>>10)
			if max(filling, most) > mostSlots {
				t.Errorf("a call read %d slots, want at most %d", max(filling, most), mostSlots)
			}
			if n := m.Stats().Keys; n > 10 {
				t.Errorf("%d keys are left after %d calls, want 10", n, calls)
			}
			if left := back - empty; left > (full-empty)/20 {
				t.Errorf("%d KiB of %d are still held", left>>10, (full-empty)>>10)
			}
		})
	}
}
