package approx

import (
	"hash/maphash"
	"sync"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const numShards = 64 // one bit each in a word

// shard is a part of the keys behind one lock, which is held over the decision of
// the local copy as well.
type shard struct {
	mu      sync.Mutex
	entries map[string]*entry
	dirty   []*entry // touched since the last exchange
	settled []*entry // in the last exchange
	name    []byte   // where names are put together

	_ [64]byte
}

// entry is a key that was touched lately. A hot one stays from exchange to exchange,
// so that decisions on it allocate nothing.
type entry struct {
	name  string // prefix and key
	key   []byte
	space *ratelimit.Space
	limit ratelimit.Limit // of the last touch
	pending
	dirty bool // in the shard's list
	seen  seen // whoever has the turn may touch it, without the lock
}

// number returns which shard has a key, whatever its space.
func (s *Store) number(key []byte) uint64 { return maphash.Bytes(s.seed, key) % numShards }

func (s *Store) shard(key []byte) *shard { return &s.shards[s.number(key)] }

// note remembers what a key was charged, and marks it for the next exchange. It
// returns nil where there is no room. The shard is locked.
func (s *Store) note(sh *shard, space *ratelimit.Space, key []byte, limit *ratelimit.Limit, units, at int64) *entry {
	e := sh.find(space, key)
	if e == nil {
		if s.tracked.Add(1) > s.maxKeys {
			s.tracked.Add(-1)
			if units != 0 {
				s.unshared.Add(1)
			}
			return nil
		}
		e = &entry{name: string(sh.name), key: append([]byte(nil), key...)}
		if sh.entries == nil {
			sh.entries = make(map[string]*entry)
		}
		sh.entries[e.name] = e
	}
	e.space, e.limit = space, *limit
	e.add(limit, pending{units: units, since: at})
	sh.mark(e)
	return e
}

// find returns a key's entry, or nil, and leaves its name in sh.name.
func (sh *shard) find(space *ratelimit.Space, key []byte) *entry {
	sh.name = append(append(sh.name[:0], space.Prefix...), key...)
	return sh.entries[string(sh.name)]
}

func (sh *shard) mark(e *entry) {
	if !e.dirty {
		e.dirty = true
		sh.dirty = append(sh.dirty, e)
	}
}

// collect appends the keys to exchange, and forgets those of the last exchange that
// nobody touched since. It returns how many it forgot.
func (sh *shard) collect(keys []*entry) (all []*entry, forgotten int) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, e := range sh.settled {
		if !e.dirty {
			delete(sh.entries, e.name)
			forgotten++
		}
	}
	if len(sh.entries) == 0 {
		sh.entries, sh.dirty, sh.settled, sh.name = nil, nil, nil, nil
		return keys, forgotten
	}
	clear(sh.settled)
	sh.dirty, sh.settled = sh.settled[:0], sh.dirty
	return append(keys, sh.settled...), forgotten
}
