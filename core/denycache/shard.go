package denycache

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

const (
	generations = 64 // a shard
	sampled     = 8  // denials looked at for one to displace
	kept        = 64 // denials whose memory a shard keeps when the last one is over
)

// shard is a part of the denials behind one lock.
type shard struct {
	mu        sync.Mutex
	most      int                   // denials
	places    map[fingerprint]int32 // where in denials
	denials   []denial              // in no order, without gaps
	hand      int                   // where in denials the sweep goes on
	evictions int64

	// generations count what changed the waits of keys, each those of a part of the
	// keys. A denial that the store told of before such a change is not to be
	// remembered after it.
	generations [generations]uint64

	hits atomic.Int64

	_ [64]byte // no two shards on one cache line
}

func (sh *shard) generation(key fingerprint) *uint64 { return &sh.generations[key[1]%generations] }

// find returns the denial of a key that is in force, or nil. It sweeps a little.
func (sh *shard) find(key fingerprint, now int64) *denial {
	sh.sweep(now)
	i, ok := sh.places[key]
	if !ok {
		return nil
	}
	if d := &sh.denials[i]; !d.over(now) {
		return d
	}
	sh.remove(int(i))
	return nil
}

// sweep looks at one denial, whichever is next, and removes it if it is over.
func (sh *shard) sweep(now int64) {
	if len(sh.denials) == 0 {
		return
	}
	sh.hand++
	if sh.hand >= len(sh.denials) {
		sh.hand = 0
	}
	if sh.denials[sh.hand].over(now) {
		sh.remove(sh.hand)
	}
}

// put remembers a denial, in the place of an older one of the key.
func (sh *shard) put(d *denial, now int64) {
	if i, ok := sh.places[d.key]; ok {
		sh.denials[i] = *d
		return
	}
	if len(sh.denials) == sh.most {
		sh.displace(now)
	}
	if sh.places == nil {
		sh.places = map[fingerprint]int32{}
	}
	sh.places[d.key] = int32(len(sh.denials))
	sh.denials = append(sh.denials, *d)
}

// displace removes the denial of a sample that is over soonest, or longest ago.
func (sh *shard) displace(now int64) {
	victim := rand.IntN(len(sh.denials))
	for range sampled - 1 {
		if i := rand.IntN(len(sh.denials)); sh.denials[i].end < sh.denials[victim].end {
			victim = i
		}
	}
	if !sh.denials[victim].over(now) {
		sh.evictions++
	}
	sh.remove(victim)
}

// forget drops what is known of a key, and what calls under way are about to know.
func (sh *shard) forget(key fingerprint) {
	*sh.generation(key)++
	sh.drop(key)
}

// drop drops what is known of a key.
func (sh *shard) drop(key fingerprint) {
	if i, ok := sh.places[key]; ok {
		sh.remove(int(i))
	}
}

// forgetBans drops all bans, and what calls under way are about to know.
func (sh *shard) forgetBans() {
	for i := range sh.generations {
		sh.generations[i]++
	}
	for i := len(sh.denials) - 1; i >= 0; i-- {
		if sh.denials[i].ban() {
			sh.remove(i)
		}
	}
}

// remove drops the i-th denial; the last one takes its place.
func (sh *shard) remove(i int) {
	last := len(sh.denials) - 1
	delete(sh.places, sh.denials[i].key)
	if i < last {
		sh.denials[i] = sh.denials[last]
		sh.places[sh.denials[i].key] = int32(i)
	}
	sh.denials = sh.denials[:last]
	if last == 0 && cap(sh.denials) > kept { // the memory of a flood goes with it
		sh.denials, sh.places = nil, nil
	}
}
