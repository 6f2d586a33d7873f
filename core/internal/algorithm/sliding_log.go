package algorithm

// MaxEntries bounds a log; charges of one microsecond are one entry.
const MaxEntries = 100_000

// Totals run modulo 2^47: what a window holds is below 2^32, so differences are exact.
const totalMask = 1<<47 - 1

// Log is a key's charges, oldest first, in a ring of two words each: the instant,
// and the running total with this charge. Totals make every question a binary search.
type Log struct {
	Ring []uint64 // two words an entry, a power of two of entries
	Head int      // index of the oldest entry
	Len  int
	Base uint64 // the running total before the oldest entry
}

// At returns the instant of the i-th entry from the oldest.
func (l *Log) At(i int) int64 { return int64(l.Ring[l.Index(i)]) }

// Index returns where in the ring the i-th entry begins.
func (l *Log) Index(i int) int { return 2 * (l.Head + i) & (len(l.Ring) - 1) }

// UpTo returns the units of the i oldest entries.
func (l *Log) UpTo(i int) int64 {
	return int64((l.Total(i) - l.Base) & totalMask)
}

// Total returns the running total after the i oldest entries.
func (l *Log) Total(i int) uint64 {
	if i == 0 {
		return l.Base
	}
	return l.Ring[l.Index(i-1)+1]
}

// AddTotal adds units to a running total.
func AddTotal(total uint64, units int64) uint64 { return (total + uint64(units)) & totalMask }

// Last returns the instant of the newest entry, 0 where there is none.
func (l *Log) Last() int64 {
	if l.Len == 0 {
		return 0
	}
	return l.At(l.Len - 1)
}

// After returns the number of entries made at t or before.
func (l *Log) After(t int64) int {
	return l.search(0, func(i int) bool { return l.At(i) > t })
}

// search returns the first entry from lo on for which found holds, as it then does
// for all later ones.
func (l *Log) search(lo int, found func(int) bool) int {
	hi := l.Len
	if lo < hi && found(lo) {
		return lo // the usual case: nothing to skip
	}
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); found(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// holding returns the first entry from lo on with which they hold so many units.
func (l *Log) holding(lo int, units int64) int {
	before := l.UpTo(lo)
	return l.search(lo, func(i int) bool { return l.UpTo(i+1)-before >= units })
}

// SlidingLog admits a cost while what was charged in (t − W, t] + cost <= quota. It
// returns how many of the oldest entries no longer count; the charge itself,
// out.Units at out.At, is the caller's to append.
func SlidingLog(l *Log, a *Ask, out *Answer) (gone int) {
	at := a.Now
	if last := l.Last(); last > at {
		if Stale(last, at, a.Window) {
			gone = l.Len
		} else {
			at = last
		}
	}
	if gone == 0 {
		gone = l.After(at - a.Window)
	}
	total := l.UpTo(l.Len) - l.UpTo(gone)
	used := total + a.Ahead

	a.charge(out, used, a.Cost <= a.Quota-used)
	out.At, out.Retry, out.Delay, out.End = at, 0, 0, 0
	if out.Units > 0 && l.Len-gone >= MaxEntries {
		out.At = l.Last() // no room for one more entry: joins the newest
	}
	wait := func(need int64) int64 {
		if need > total { // not before what was charged just now is gone
			return a.told(out.At+a.Window-at, at)
		}
		return a.told(l.At(l.holding(gone, need))+a.Window-at, at)
	}
	switch {
	case out.Allowed:
	case a.Cost > a.Quota-a.Ahead:
		out.Retry = NeverFits
	default:
		out.Retry = wait(used + a.Cost - a.Quota)
	}
	used += out.Units
	out.Used, out.Remaining = used, max(0, a.Quota-used)
	out.Next, out.Reset = 0, 0
	if used > 0 {
		out.Next = wait(used - min(used, a.Quota) + 1)
		out.Reset = wait(used)
	}
	return gone
}
