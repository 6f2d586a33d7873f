package ratelimit

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// doubled finds a policy that is charged twice for one request, because its
// middleware stands twice on the way. It costs nothing until a response is seen
// that another limiter has written headers to. Then it watches all requests for a
// while, and some of those that follow.
type doubled struct {
	watching atomic.Bool
	seen     atomic.Int64 // requests since then
	under    atomic.Int64 // watched requests under way

	mu     sync.Mutex
	active map[uintptr][]*policy // what was charged for them
}

const watchedFirst = 1000

// suspect starts watching: limiters are stacked here.
func (d *doubled) suspect() {
	if !d.watching.Load() {
		d.watching.Store(true)
	}
}

// begin notes what a request is charged, where it is watched, and returns a policy
// that it was charged before.
func (d *doubled) begin(id uintptr, policies []*policy) (watched bool, twice *policy) {
	n := d.seen.Add(1)
	fresh := n <= watchedFirst || uint64(n)*0x9e3779b97f4a7c15>>58 == 0 // one in 64, scattered: in no step with any pattern
	if !fresh && d.under.Load() == 0 {
		return false, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before, known := d.active[id]
	if !fresh && !known {
		return false, nil
	}
	for _, p := range policies {
		if slices.Contains(before, p) {
			twice = p
		}
	}
	if d.active == nil {
		d.active = map[uintptr][]*policy{}
	}
	if !known {
		d.under.Add(1)
	}
	d.active[id] = append(before, policies...)
	return true, twice
}

func (d *doubled) end(id uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.active[id]; known {
		delete(d.active, id)
		d.under.Add(-1)
	}
}

// requestID returns what tells a request from all others under way. Middlewares
// pass on copies of some frameworks' requests: a view of those has an identity.
func requestID(v View) uintptr {
	if v, ok := v.(interface{ Identity() uintptr }); ok {
		return v.Identity()
	}
	if n := reflect.ValueOf(v.Native()); n.Kind() == reflect.Pointer {
		return n.Pointer()
	}
	return 0
}

// watch looks whether a policy of the ticket's is charged twice.
func (t *Ticket) watch() {
	id := requestID(t.view)
	if id == 0 {
		return
	}
	watched, p := t.limiter.family.doubled.begin(id, t.policies)
	if watched {
		t.watched = id
	}
	if p != nil {
		t.limiter.misconfigured(t.ctx, p.Name, CodeDoubled,
			"a request is charged twice under one policy: its middleware stands twice on the way")
	}
}
