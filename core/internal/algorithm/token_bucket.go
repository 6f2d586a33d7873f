package algorithm

// TokenBucket admits a cost while level + cost <= capacity; the level drains by
// quota a window. With MaxDelay, a cost that fits the capacity may be reserved
// ahead and wait until the level has drained to it.
func TokenBucket(s State, a *Ask, out *Answer) State {
	at := a.instant(&s)
	u, f := bucket(s, at, a.MaxDelay, a, out)
	out.End = 0
	if out.Units == 0 {
		return s
	}
	return State{Last: at, Units: u, Part: f}
}

func refundTokenBucket(s State, a *Ask) (State, bool) {
	at := a.instant(&s)
	u, f := drain(s, at, a)
	if u|f == 0 || a.Cost == 0 {
		return s, false
	}
	if u -= a.Cost; u < 0 {
		u, f = 0, 0
	}
	return State{Last: at, Units: u, Part: f}, true
}
