package algorithm

// SlidingCounter estimates the sliding log by two counts: this window's, and as
// much of the last one's as the span of one window still reaches back into it.
func SlidingCounter(s State, a *Ask, out *Answer) State {
	at := a.instant(&s)
	cur, prev := counts(s, at, a.Window)
	room := cur + a.Ahead // the level cap is on the count that grows
	used := room + carried(prev, at, a.Window)

	a.charge(out, room, a.Cost <= a.Quota-used)
	out.Retry, out.Delay, out.End = 0, 0, 0
	if !out.Allowed {
		out.Retry = counterWait(cur, prev, at, a.Ahead+min(a.Cost, a.Quota+1), a)
	}
	cur, used = room+out.Units, used+out.Units
	out.At, out.Used, out.Remaining = at, used, max(0, a.Quota-used)
	out.Next, out.Reset = 0, 0
	if used > 0 {
		out.Next = counterWait(cur, prev, at, out.Remaining+1, a)
		out.Reset = counterWait(cur, prev, at, a.Quota, a)
	}
	if out.Units == 0 {
		return s
	}
	return State{Last: at, Units: cur, Part: prev}
}

func refundSlidingCounter(s State, a *Ask, charged int64) (State, bool) {
	at := a.instant(&s)
	cur, prev := counts(s, at, a.Window)
	count := &cur
	switch at/a.Window - charged/a.Window {
	case 0:
	case 1:
		count = &prev
	default:
		return s, false
	}
	if *count == 0 || a.Cost == 0 {
		return s, false
	}
	*count = max(0, *count-a.Cost)
	return State{Last: at, Units: cur, Part: prev}, true
}

// counts returns the counts of the instant's window and of the one before.
func counts(s State, at, window int64) (cur, prev int64) {
	switch at/window - s.Last/window {
	case 0:
		return s.Units, s.Part
	case 1:
		return 0, s.Units
	default:
		return 0, 0
	}
}

// carried returns floor(prev·(W − e)/W), e the time into the window.
func carried(prev, at, window int64) int64 {
	if prev == 0 {
		return 0
	}
	q, _ := muldiv(prev, window-at%window, 0, window)
	return q
}

// counterWait returns the wait until the cost fits beside the counts.
func counterWait(cur, prev, at, cost int64, a *Ask) int64 {
	if cost > a.Quota {
		return NeverFits
	}
	into := at % a.Window
	if free := a.Quota - cost - cur; free >= 0 {
		return a.told(decay(prev, free, a.Window)-into, at)
	}
	// Not before this window's count has become the last one's.
	return a.told(a.Window-into+decay(cur, a.Quota-cost, a.Window), at)
}

// decay returns how far into a window floor(prev·(W − e)/W) <= free first holds.
func decay(prev, free, window int64) int64 {
	if prev <= free {
		return 0
	}
	return window - muldivUp(free+1, window, 0, prev) + 1
}
