package algorithm

// maxNanos bounds a GCRA level with its debt: 146 years.
const maxNanos = 1 << 62

// GCRA is the token bucket held as a time: a unit is T = ceil(W/N) ns, the level is
// the time until the theoretical arrival time (ITU-T I.371, its virtual scheduling
// form). Rounding T up makes it at most 1 ns a unit slower, never more generous.
//
// A level that was written at another rate drains at that one until the next write,
// and is converted where it is looked at.
func GCRA(s State, a *Ask, out *Answer) State {
	at := a.instant(&s)
	t := interval(a.Quota, a.Window)
	was := level(s, at, a, t)
	ns := was.converted()
	used := ceilDiv(ns, t)

	// Capacity·T is below ten years, so that nothing here comes near 2^63.
	ns += min(a.Ahead, (maxNanos-ns)/t) * t
	above := ns + (min(a.Cost, a.Capacity)-a.Capacity)*t
	delay := max(0, ceilDiv(above, 1000))
	a.charge(out, used+a.Ahead, a.Cost <= a.Capacity && delay <= a.MaxDelay)
	out.Units = min(out.Units, (maxNanos-ns)/t)
	out.Retry, out.Delay, out.End = 0, 0, 0
	switch {
	case out.Allowed && a.Cost > 0:
		out.Delay = min(delay, Forever)
	case out.Allowed:
	case a.Cost > a.Capacity:
		out.Retry = NeverFits
	default:
		goal := (a.Capacity-a.Cost-min(a.Ahead, maxNanos/t))*t + a.MaxDelay*1000
		out.Retry = a.retry(goal >= 0, was.until(goal), at)
	}
	if a.Ahead+out.Units > 0 { // written at the new rate
		ns += out.Units * t
		was = nanos{left: ns, old: t, unit: t}
		used = ceilDiv(ns, t)
	}

	out.At, out.Used, out.Remaining = at, used, max(0, a.Capacity-used)
	out.Next, out.Reset = 0, 0
	if used > 0 {
		out.Next = a.told(was.until((min(used, a.Capacity)-1)*t), at)
		out.Reset = a.told(was.until(0), at)
	}
	if out.Units == 0 {
		return s
	}
	return State{Last: at, Part: ns, Rate: a.Quota}
}

func refundGCRA(s State, a *Ask) (State, bool) {
	if a.Cost == 0 || s.Part == 0 {
		return s, false
	}
	at := a.instant(&s)
	t := interval(a.Quota, a.Window)
	ns := level(s, at, a, t).converted()
	if ns == 0 {
		return s, false
	}
	if a.Cost > ns/t {
		ns = 0
	} else {
		ns -= a.Cost * t
	}
	return State{Last: at, Part: ns, Rate: a.Quota}, true
}

// interval returns the ns of one unit.
func interval(quota, window int64) int64 { return ceilDiv(window*1000, quota) }

// level returns the level at the instant at, a unit taking t now.
func level(s State, at int64, a *Ask, t int64) nanos {
	n := nanos{old: t, unit: t}
	if s.Part == 0 || at-s.Last >= ceilDiv(s.Part, 1000) {
		return n
	}
	n.left = s.Part - (at-s.Last)*1000
	if s.Rate != a.Quota {
		n.old = interval(s.Rate, a.Window)
	}
	return n
}

// nanos is a level in ns, of which a unit took old when it was written, and takes
// unit now.
type nanos struct{ left, old, unit int64 }

func (n nanos) converted() int64 {
	if n.old == n.unit || n.left == 0 {
		return n.left
	}
	return min(muldivUp(n.left, n.unit, 0, n.old), maxNanos)
}

// until returns the µs until at most goal ns are left, once converted.
func (n nanos) until(goal int64) int64 {
	if n.old != n.unit && goal > 0 {
		goal, _ = muldiv(goal, n.old, 0, n.unit)
	}
	return max(0, ceilDiv(n.left-min(goal, maxNanos), 1000))
}
