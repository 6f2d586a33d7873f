package algorithm

// LeakyBucket is a queue: it admits as the token bucket does, and what it admits
// waits until the level that it found has drained, so departures are evenly apart.
func LeakyBucket(s State, a *Ask, out *Answer) State {
	at := a.instant(&s)
	u, f := bucket(s, at, 0, a, out)
	out.Delay, out.End = 0, 0
	if out.Units == 0 {
		return s
	}
	out.Delay = min(drainTime(u-out.Units, f, a), Forever)
	out.End = queueEnd(u, f, at, a)
	return State{Last: at, Units: u, Part: f}
}

// refundLeakyBucket gives a slot back only while the queue's end is where the
// charge put it: else somebody waits behind it, and would depart too early.
func refundLeakyBucket(s State, a *Ask, end int64) (State, bool, int64) {
	at := a.instant(&s)
	u, f := drain(s, at, a)
	if u|f == 0 || queueEnd(u, f, at, a) != end {
		return s, false, end
	}
	next, changed := refundTokenBucket(s, a)
	return next, changed, queueEnd(next.Units, next.Part, at, a)
}

// queueEnd returns the instant at which what waits is gone. Draining does not move it.
func queueEnd(u, f, at int64, a *Ask) int64 { return min(at+drainTime(u, f, a), Forever-1) }
