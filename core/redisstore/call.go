package redisstore

import (
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// call is one run of a script on keys that share a slot. It owns all that it holds:
// who waited for it may be gone when it is sent or answered.
type call struct {
	script *script
	keys   []string // as stored; the first one tells the slot
	arg    string   // everything else, packed

	reply string // what the script returned, packed
	err   error  // why there is no reply

	// How it travels. The dispatcher's mutex guards lane and next.
	trip     *trip
	after    *call // runs before this one, which is next to it in the trip
	whole    bool  // its keys cannot be asked one by one
	tries    int   // how often the server did not know the script
	paused   bool  // whether it was sent again after a pause
	lane     *lane
	next     *call
	answered atomic.Bool // reply and err are set
}

// answer ends the call.
func (c *call) answer(reply string, err error) {
	c.reply, c.err = reply, err
	c.answered.Store(true)
	c.trip.answered()
}

// late reports whether the call has waited for too long to be sent for the first time.
func (c *call) late(now time.Time) bool {
	return c.tries == 0 && !c.paused && !c.trip.givesBack && now.After(c.trip.sendBy)
}

// repeated reports whether the call, which has its answer, was sent more than once.
func (c *call) repeated() bool { return c.tries > 0 || c.paused }

// divisible reports whether the keys can be asked one by one, where a slot that is being
// moved has some of them already and some not yet.
func (c *call) divisible() bool { return !c.whole && len(c.keys) > 1 }

// straddles reports whether the call was refused, and did not run, since the slot is
// being moved and its keys are on two nodes.
func (c *call) straddles() bool { return c.divisible() && redis.IsTryAgainError(c.failure()) }

// failure returns why the call has no reply, also while it is still under way.
func (c *call) failure() error {
	if !c.answered.Load() {
		return errTimeout
	}
	return c.err
}
