package ratelimit

import (
	"context"
	"strings"
	"testing"
)

// everyone gives all requests one key.
func everyone(dst []byte, _ Request) ([]byte, error) { return append(dst, "all"...), nil }

// TestHugeKeyIsNotKept: the room that one client's key took is not held on to, and
// that of usual keys is.
func TestHugeKeyIsNotKept(t *testing.T) {
	limits := Must(Config{Policies: []Policy{{Name: "p", Limit: PerHour(1000), Key: everyone}}})
	for _, c := range []struct {
		size int
		kept bool
	}{{1, true}, {longKey, true}, {longKey + 1, true}, {1000, true}, {2 * keepKeys, false}, {1 << 20, false}} {
		ticket := limits.ask(context.Background(), strings.Repeat("k", c.size), 1)
		if cap(ticket.keys) == 0 {
			t.Fatal("the ticket has no room for its key")
		}
		ticket.End(200, nil)
		// The ticket is nobody's now: no other request is under way.
		if room := cap(ticket.keys); room > keepKeys || (room > 0) != c.kept {
			t.Errorf("a key of %d bytes: room for %d is kept, want some: %v", c.size, room, c.kept)
		}
	}
}
