package algorithm

// maxNanos bounds a GCRA level with its debt: 146 years.
const maxNanos = 1 << 62

// GCRA is the token bucket held as a time: a unit is T = ceil(W/N) ns, the level is
// the time until the theoretical arrival time (ITU-T I.371, its virtual scheduling
// form). Rounding T up makes it at most 1 ns a unit slower, never more generous.
func GCRA(s State, a *Ask, out *Answer) State {
	at := a.instant(&s)
	t := interval(a.Quota, a.Window)
	level := gcraLevel(s, at, a, t)
	used := ceilDiv(level, t)

	// Capacity·T is below ten years, so that nothing here comes near 2^63.
	level += min(a.Ahead, (maxNanos-level)/t) * t
	above := level + (min(a.Cost, a.Capacity)-a.Capacity)*t
	delay := max(0, ceilDiv(above, 1000))
	a.charge(out, used+a.Ahead, a.Cost <= a.Capacity && delay <= a.MaxDelay)
	out.Units = min(out.Units, (maxNanos-level)/t)
	out.Retry, out.Delay, out.End = 0, 0, 0
	switch {
	case out.Allowed && a.Cost > 0:
		out.Delay = a.told(delay, at)
	case out.Allowed:
	case a.Cost > a.Capacity:
		out.Retry = NeverFits
	default:
		least := max(0, ceilDiv((min(a.Ahead, 2*a.Capacity)+a.Cost-a.Capacity)*t, 1000))
		out.Retry = a.retry(least <= a.MaxDelay, delay-a.MaxDelay, at)
	}
	level += out.Units * t

	used = ceilDiv(level, t)
	out.At, out.Used, out.Remaining = at, used, max(0, a.Capacity-used)
	out.Next, out.Reset = 0, 0
	if used > 0 {
		out.Next = a.told(ceilDiv(level-(min(used, a.Capacity)-1)*t, 1000), at)
		out.Reset = a.told(ceilDiv(level, 1000), at)
	}
	if out.Units == 0 {
		return s
	}
	return State{Last: at, Part: level, Rate: a.Quota}
}

func refundGCRA(s State, a *Ask) (State, bool) {
	at := a.instant(&s)
	t := interval(a.Quota, a.Window)
	level := gcraLevel(s, at, a, t)
	if level == 0 || a.Cost == 0 {
		return s, false
	}
	level = max(0, level-min(a.Cost, maxNanos/t)*t)
	return State{Last: at, Part: level, Rate: a.Quota}, true
}

// interval returns the ns of one unit.
func interval(quota, window int64) int64 { return ceilDiv(window*1000, quota) }

// gcraLevel returns the ns until the arrival time, in units of t: a level written at
// another rate drains at that one, and what is left of it is converted.
func gcraLevel(s State, at int64, a *Ask, t int64) int64 {
	if s.Part == 0 || at-s.Last >= ceilDiv(s.Part, 1000) {
		return 0
	}
	level := s.Part - (at-s.Last)*1000
	if s.Rate != a.Quota {
		level = min(muldivUp(level, t, 0, interval(s.Rate, a.Window)), maxNanos)
	}
	return level
}
