package ratelimit

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// doubled finds a policy that is charged twice for one request, because its
// middleware stands twice on the way. It costs nothing until a response is seen
// that another limiter has written headers to, and then watches some requests.
type doubled struct {
	watching atomic.Bool
	left     atomic.Int32 // requests that may still be watched

	mu     sync.Mutex
	active map[uintptr][]*policy // what was charged for the requests under way
}

const watchedRequests = 1000

// suspect starts watching: limiters are stacked here.
func (d *doubled) suspect() {
	if !d.watching.Load() && d.left.Load() > 0 {
		d.watching.Store(true)
	}
}

// begin notes what a request is charged, and returns a policy that it was charged
// before.
func (d *doubled) begin(id uintptr, policies []*policy) (twice *policy) {
	if d.left.Add(-1) < 0 {
		d.watching.Store(false)
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.active[id]
	for _, p := range policies {
		if slices.Contains(before, p) {
			twice = p
		}
	}
	if d.active == nil {
		d.active = map[uintptr][]*policy{}
	}
	d.active[id] = append(before, policies...)
	return twice
}

func (d *doubled) end(id uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.active, id)
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
	t.watched = id
	if p := t.limiter.family.doubled.begin(id, t.policies); p != nil {
		t.limiter.misconfigured(t.ctx, p.Name, CodeDoubled,
			"a request is charged twice under one policy: its middleware stands twice on the way")
	}
}
