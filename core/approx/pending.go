package approx

import ratelimit "github.com/weirhq/ratelimit/core"

const maxPending = 1 << 32

// pending is what the shared store was not sent yet, or may not have charged.
type pending struct {
	units int64 // charged, less what was given back
	doubt int64 // of them: sent by a Take that failed, so charged or not; above them where some were given back since
	since int64 // µs: where the first of them counts; 0: there is none
	back  int64 // µs: where the charge counts that was given back last
	look  bool  // the shared store is looked at before they are sent
}

// add adds what is pending as well. Of two fixed windows the later one stays:
// what is over cannot be made up for, nor made good.
func (p *pending) add(l *ratelimit.Limit, more pending) {
	if more.units == 0 && more.doubt == 0 {
		return
	}
	if l.Algorithm == ratelimit.FixedWindow && p.since != 0 {
		switch was, is := window(l, p.since), window(l, more.since); {
		case is < was:
			return
		case is > was:
			*p = pending{}
		}
	}
	p.units = min(max(-maxPending, p.units+more.units), maxPending)
	p.doubt = min(p.doubt+more.doubt, maxPending)
	p.back = max(p.back, more.back)
	p.look = p.look || more.look
	if p.since == 0 || more.since < p.since {
		p.since = more.since
	}
}

// due returns what is to be sent of it, given the copy's answer to a look. What is no
// longer counted there would be counted anew in the shared store: what was charged in a
// fixed window that is over, and what waited for longer than a window.
func (p pending) due(l *ratelimit.Limit, look *ratelimit.Result, every int64) pending {
	switch at := look.Receipt.At; {
	case l.Algorithm == ratelimit.FixedWindow && window(l, at) != window(l, p.since):
		return pending{}
	case at-p.since > l.Window.Microseconds()+every:
		over := max(0, p.units-look.Used)
		p.units -= over
		p.doubt = max(0, p.doubt-over)
	}
	return p
}
