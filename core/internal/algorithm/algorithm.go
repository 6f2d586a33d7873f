// Package algorithm decides. Each algorithm is a pure function of what is
// remembered, the instant, the limit and the cost; what to remember next and what
// to answer are its results. It knows no store, no key and no clock.
//
// All instants and waits are whole microseconds, all numbers exact: the units of a
// charge reach 2^31, windows 366 days, instants 2^53.
package algorithm

// Kind is an algorithm. The order is that of the public constants.
type Kind uint8

// The kinds.
const (
	KindTokenBucket Kind = iota
	KindGCRA
	KindLeakyBucket
	KindFixedWindow
	KindSlidingLog
	KindSlidingCounter
)

const (
	// Forever is how a wait of 2^53 µs or more is told.
	Forever = 1 << 53
	// NeverFits is the wait of a cost above the capacity.
	NeverFits = -1
	// MaxLevel bounds level and debt together, in units.
	MaxLevel = 1<<32 - 1

	minute = 60_000_000
)

// State is what is remembered of a key by every algorithm but the log. The zero
// State is a key that was never charged.
type State struct {
	Last  int64 // the instant of the last write
	Units int64 // buckets: whole units; windows: count in Last's window
	Part  int64 // buckets: fraction in 1/Window units; counter: count in the window before; GCRA: ns until the arrival time
	Rate  int64 // GCRA: the quota that Part was written at
}

// Ask is a question about one key.
type Ask struct {
	Now      int64
	Quota    int64 // units a window
	Window   int64 // µs
	Capacity int64 // units at once
	Cost     int64 // units; 0 looks
	Ahead    int64 // units that the same call put on the key before
	MaxDelay int64 // µs that a reservation may wait
	Force    bool  // charged even where it does not fit, as far as there is room
}

// Answer is what becomes of it. The numbers hold after Ahead and Units.
type Answer struct {
	Allowed   bool  // it fits
	At        int64 // the instant that counted: Now, or the last write's
	Units     int64 // charged
	End       int64 // where a queue's end is put
	Used      int64 // units, debt included
	Remaining int64
	Retry     int64 // µs until the same cost fits, NeverFits, or 0
	Reset     int64 // µs until nothing is used
	Next      int64 // µs until Remaining grows by one
	Delay     int64 // µs that the charge waits
}

// Take decides about a.Cost and returns the state to remember: s itself unless
// out.Units > 0.
func Take(k Kind, s State, a *Ask, out *Answer) State {
	switch k {
	case KindTokenBucket:
		return TokenBucket(s, a, out)
	case KindGCRA:
		return GCRA(s, a, out)
	case KindLeakyBucket:
		return LeakyBucket(s, a, out)
	case KindFixedWindow:
		return FixedWindow(s, a, out)
	default:
		return SlidingCounter(s, a, out)
	}
}

// Refund undoes a.Cost units of a charge made at the instant at, whose queue's end
// was put at end. It returns the state to remember, whether it changed, and the
// queue's new end.
func Refund(k Kind, s State, a *Ask, at, end int64) (next State, changed bool, newEnd int64) {
	switch k {
	case KindTokenBucket:
		next, changed = refundTokenBucket(s, a)
	case KindGCRA:
		next, changed = refundGCRA(s, a)
	case KindLeakyBucket:
		return refundLeakyBucket(s, a, end)
	case KindFixedWindow:
		next, changed = refundFixedWindow(s, a, at)
	default:
		next, changed = refundSlidingCounter(s, a, at)
	}
	return next, changed, end
}

// Used returns the units in use at a.Now.
func Used(k Kind, s State, a *Ask) int64 {
	at := a.instant(&s)
	switch k {
	case KindTokenBucket, KindLeakyBucket:
		u, f := drain(s, at, a)
		return ceilUnits(u, f)
	case KindGCRA:
		t := interval(a.Quota, a.Window)
		return ceilDiv(level(s, at, a, t).converted(), t)
	case KindFixedWindow:
		return windowCount(s, at, a.Window)
	default:
		cur, prev := counts(s, at, a.Window)
		return cur + carried(prev, at, a.Window)
	}
}

// Stale reports whether a clock that went back makes the state worthless: by more
// than the longer of the window and a minute.
func Stale(last, now, window int64) bool { return last-now > max(window, minute) }

// instant returns the instant that counts: one before the last write counts as
// that write's. It clears a state from too far ahead.
func (a *Ask) instant(s *State) int64 {
	if s.Last <= a.Now {
		return a.Now
	}
	if Stale(s.Last, a.Now, a.Window) {
		*s = State{}
		return a.Now
	}
	return s.Last
}

// charge decides how many units are charged, given what is used and whether the
// cost fits.
func (a *Ask) charge(out *Answer, used int64, fits bool) {
	room := max(0, MaxLevel-used)
	out.Units, out.Allowed = 0, fits && a.Cost <= room
	switch {
	case a.Cost == 0:
		out.Allowed = true
	case a.Force:
		out.Units = min(a.Cost, room)
	case out.Allowed:
		out.Units = a.Cost
	}
}

// told returns a wait as the caller sees it: from Now, though it was computed at
// the instant that counts.
func (a *Ask) told(wait, at int64) int64 {
	if wait > 0 {
		wait += at - a.Now
	}
	return min(wait, Forever)
}
