package approx

import (
	"hash/maphash"
	"sync"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	numShards  = 64 // one bit each in a word
	maxPending = 1 << 32
)

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
}

// pending is what the shared store was not sent yet.
type pending struct {
	units int64 // charged, less what was given back
	since int64 // µs: where the first of them counts; 0: there is none
	back  int64 // µs: where the charge counts that was given back last
}

// add adds units that count at an instant. Of two fixed windows the later one stays:
// what is over cannot be made up for, nor made good.
func (p *pending) add(l *ratelimit.Limit, units, at int64) {
	if units == 0 {
		return
	}
	if window := l.Window.Microseconds(); l.Algorithm == ratelimit.FixedWindow && p.since != 0 {
		switch {
		case at/window < p.since/window:
			return
		case at/window > p.since/window:
			*p = pending{}
		}
	}
	p.units = min(max(-maxPending, p.units+units), maxPending)
	if p.since == 0 || at < p.since {
		p.since = at
	}
}

// due returns the units to send, given the copy's answer to a look. What is no longer
// counted there would be counted anew in the shared store: what was charged in a
// fixed window that is over, and what waited for longer than a window.
func (p *pending) due(l *ratelimit.Limit, look *ratelimit.Result, every int64) int64 {
	window, at := l.Window.Microseconds(), look.Receipt.At
	switch {
	case l.Algorithm == ratelimit.FixedWindow && at/window != p.since/window:
		return 0
	case at-p.since > window+every:
		return min(p.units, look.Used)
	default:
		return p.units
	}
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
	e.add(limit, units, at)
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
