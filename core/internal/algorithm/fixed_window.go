package algorithm

// FixedWindow admits a cost while count + cost <= quota; windows start at multiples
// of their length since 1970.
func FixedWindow(s State, a *Ask, out *Answer) State {
	at := a.instant(&s)
	count := windowCount(s, at, a.Window) + a.Ahead
	left := a.told(a.Window-at%a.Window, at)

	a.charge(out, count, a.Cost <= a.Quota-count)
	out.Retry, out.Delay, out.End = 0, 0, 0
	switch {
	case out.Allowed:
	case a.Cost > a.Quota-a.Ahead:
		out.Retry = NeverFits
	default:
		out.Retry = left
	}
	count += out.Units
	out.At, out.Used, out.Remaining = at, count, max(0, a.Quota-count)
	out.Next, out.Reset = 0, 0
	if count > 0 {
		out.Next, out.Reset = left, left
	}
	if out.Units == 0 {
		return s
	}
	return State{Last: at, Units: count}
}

func refundFixedWindow(s State, a *Ask, charged int64) (State, bool) {
	at := a.instant(&s)
	count := windowCount(s, at, a.Window)
	if count == 0 || a.Cost == 0 || charged/a.Window != at/a.Window {
		return s, false
	}
	return State{Last: at, Units: max(0, count-a.Cost)}, true
}

// windowCount returns what was charged in the window of the instant.
func windowCount(s State, at, window int64) int64 {
	if s.Units == 0 || s.Last/window != at/window {
		return 0
	}
	return s.Units
}
