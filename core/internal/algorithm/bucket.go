package algorithm

// A bucket's level is u + f/W units, 0 <= f < W, as of the last write. The
// denominator is the window, so a level survives any change of quota exactly.

// drain returns the level at the instant at: quota units leave it every window.
func drain(s State, at int64, a *Ask) (u, f int64) {
	u, f = s.Units, s.Part
	gone := at - s.Last
	if u|f == 0 || gone == 0 {
		return u, f
	}
	windows := int64(0)
	if gone >= a.Window {
		windows, gone = gone/a.Window, gone%a.Window
		if windows > u { // at least one unit a window
			return 0, 0
		}
	}
	whole, part := muldiv(gone, a.Quota, 0, a.Window)
	u -= windows*a.Quota + whole
	f -= part
	if f < 0 {
		f += a.Window
		u--
	}
	if u < 0 {
		return 0, 0
	}
	return u, f
}

// drainTime returns the µs in which u + f/W units drain, rounded up; 0 for what is
// not above zero. It stops at 2^62, far above any wait that is told.
func drainTime(u, f int64, a *Ask) int64 {
	if u < 0 || u|f == 0 {
		return 0
	}
	return min(muldivUp(u, a.Window, f, a.Quota), 1<<62)
}

func ceilUnits(u, f int64) int64 {
	if f > 0 {
		u++
	}
	return u
}

// levels fills in what a bucket at the level tells.
func levels(u, f, at int64, a *Ask, out *Answer) {
	used := ceilUnits(u, f)
	out.At, out.Used, out.Remaining = at, used, max(0, a.Capacity-used)
	out.Next, out.Reset = 0, 0
	if used > 0 {
		out.Next = a.told(drainTime(u-min(used, a.Capacity)+1, f, a), at)
		out.Reset = a.told(drainTime(u, f, a), at)
	}
}

// bucket decides by the level: what is more than the capacity after the charge has
// to drain within maxDelay. It returns the level after the charge.
func bucket(s State, at, maxDelay int64, a *Ask, out *Answer) (u, f int64) {
	u, f = drain(s, at, a)
	u += a.Ahead
	above := drainTime(u+min(a.Cost, MaxLevel)-a.Capacity, f, a)
	a.charge(out, ceilUnits(u, f), a.Cost <= a.Capacity && above <= maxDelay)
	out.Retry, out.Delay = 0, 0
	switch {
	case out.Allowed && a.Cost > 0:
		out.Delay = min(above, Forever)
	case out.Allowed:
	case a.Cost > a.Capacity:
		out.Retry = NeverFits
	default:
		out.Retry = a.retry(drainTime(a.Ahead+a.Cost-a.Capacity, 0, a) <= maxDelay, above-maxDelay, at)
	}
	u += out.Units
	levels(u, f, at, a, out)
	return u, f
}

// retry tells a denied cost's wait, where it fits once nothing else is used.
func (a *Ask) retry(ever bool, wait, at int64) int64 {
	if !ever {
		return NeverFits
	}
	return a.told(wait, at)
}
