package redisstore

import "github.com/redis/go-redis/v9"

// lane is the queue to one node. The dispatcher's mutex guards it.
type lane struct {
	node        *redis.Client // nil: the only one, or the node is not known
	first, last *call
	waiting     int // calls
	running     int // pipelines in flight, each with a goroutine
}

// push adds a call at the end.
func (l *lane) push(c *call) {
	l.waiting++
	c.lane, c.next = l, nil
	if l.first == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
}

// pushFront puts calls, in their order, before all others.
func (l *lane) pushFront(calls []*call) {
	l.waiting += len(calls)
	for i := len(calls) - 1; i >= 0; i-- {
		c := calls[i]
		c.lane, c.next = l, l.first
		if l.first == nil {
			l.last = c
		}
		l.first = c
	}
}

// pop takes the first call, nil where there is none.
func (l *lane) pop() *call {
	c := l.first
	if c != nil {
		l.waiting--
		l.first, c.next = c.next, nil
	}
	return c
}

// dropLeft ends the calls at the front that nobody waits for. All calls have about
// the same time-out, so nothing that was left stays for long behind one that was not.
func (l *lane) dropLeft() {
	for l.first != nil && l.first.trip.left.Load() {
		l.pop().answer("", errTimeout)
	}
}
