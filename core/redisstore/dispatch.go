package redisstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxPipelines is how many pipelines of a lane are in flight at once. One would make
	// a call wait for the whole trip before it; with many there is nothing left to share.
	maxPipelines = 4
	// crowdPipelines is how many there are where those are not enough: where more calls
	// wait than one pipeline holds.
	crowdPipelines = 16
	// maxBatch bounds what one pipeline holds, so that none waits long for its last.
	maxBatch = 64
)

// dispatcher sends calls. A call that finds its lane idle is sent at once and alone;
// those that come while enough pipelines are in flight share the next one. There is a
// goroutine for each pipeline in flight, and none while idle.
type dispatcher struct {
	client redis.UniversalClient
	stats  *counters
	known  atomic.Bool // a cluster has answered: where its slots are is told without asking

	mu      sync.Mutex
	lanes   map[*redis.Client]*lane // those with something to do
	closed  bool
	running sync.WaitGroup // goroutines, and calls that pause
}

// do sends the calls of a trip, waits for their answers, and reports whether it got
// all of them in time.
func (d *dispatcher) do(t *trip) bool {
	if !time.Now().Before(t.deadline) {
		for i := range t.calls {
			t.calls[i].answer("", errTimeout)
		}
		return true
	}
	d.mu.Lock()
	for i := range t.calls {
		d.enqueue(&t.calls[i]) // at one go: they share a pipeline
	}
	d.mu.Unlock()
	if t.wait() {
		return true
	}
	d.mu.Lock()
	for i := range t.calls {
		if l := t.calls[i].lane; l != nil {
			l.dropLeft()
		}
	}
	d.mu.Unlock()
	return false
}

// enqueue puts a call into its lane, and sees to it that somebody sends it.
func (d *dispatcher) enqueue(c *call) {
	if d.closed && !c.trip.givesBack {
		c.answer("", errClosed)
		return
	}
	node := d.node(c.keys[0])
	l := d.lanes[node]
	if l == nil {
		l = &lane{node: node}
		d.lanes[node] = l
	}
	idle := l.first == nil // else somebody comes for those already
	l.push(c)
	if idle || l.waiting > maxBatch {
		d.start(l)
	}
}

// node returns which node a key is on, without asking any: nil where all calls go one
// way, or while a cluster has not been reached yet.
func (d *dispatcher) node(key string) *redis.Client {
	var node *redis.Client
	switch client := d.client.(type) {
	case *redis.ClusterClient:
		if d.known.Load() {
			node, _ = client.MasterForKey(context.Background(), key)
		}
	case *redis.Ring:
		node, _ = client.GetShardClientForKey(key)
	}
	return node // nil where the client knows none: it says so when the call is sent
}

// start sends what waits in a lane, unless enough is under way.
func (d *dispatcher) start(l *lane) {
	if l.running < maxPipelines || l.waiting > maxBatch && l.running < crowdPipelines {
		l.running++
		d.running.Add(1)
		go d.run(l)
	}
}

// run sends pipelines until nobody waits.
func (d *dispatcher) run(l *lane) {
	defer d.running.Done()
	var room [maxBatch / 4]*call
	for batch := d.next(l, room[:0]); len(batch) > 0; batch = d.next(l, batch[:0]) {
		d.send(l, batch)
		clear(batch)
	}
}

// next takes what the next pipeline of a lane holds. It is empty where nobody waits. Under
// more load than there are answers, calls that have waited for half of their time are not
// sent: they would be charged, and answered too late, and so would all behind them.
func (d *dispatcher) next(l *lane, batch []*call) []*call {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for l.first != nil && (len(batch) < maxBatch || l.first.after != nil) {
		switch c := l.pop(); {
		case c.trip.left.Load():
			c.answer("", errTimeout)
		case c.late(now):
			c.answer("", errBusy)
		default:
			batch = append(batch, c)
		}
	}
	switch {
	case len(batch) == 0:
		if l.running--; l.running == 0 {
			delete(d.lanes, l.node)
		}
	case l.first != nil:
		d.start(l)
	}
	return batch
}

// close ends the calls that wait, lets those that were sent end, and refuses others. What
// gives back is still sent: the goroutine that does had begun before.
func (d *dispatcher) close() {
	d.mu.Lock()
	d.closed = true
	for _, l := range d.lanes {
		waiting := l.first
		l.first, l.waiting = nil, 0
		for waiting != nil {
			c := waiting
			waiting = c.next
			if c.trip.givesBack {
				l.push(c) // whoever comes for the lane's calls sends it
			} else {
				c.answer("", errClosed)
			}
		}
	}
	d.mu.Unlock()
	d.running.Wait()
}

// begin keeps the dispatcher from being closed under a goroutine that makes trips of
// its own. It returns false where it is closed.
func (d *dispatcher) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.running.Add(1)
	}
	return !d.closed
}

// end is called where a goroutine ends that had begun.
func (d *dispatcher) end() { d.running.Done() }
