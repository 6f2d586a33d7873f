package approx

import (
	"math/bits"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// seen is what the shared store had in use of a key when it last answered. After a
// Take that failed it tells whether that was charged: see missing. Its instants are of
// the shared store's clock, in µs.
type seen struct {
	used  int64
	at    int64 // of the answer; 0: there was none
	end   int64 // when nothing is in use any more, by what was; at least at
	quota int64 // by which it drains until then
	local bool  // it was the copy's answer, at its instants
}

func seenBy(l *ratelimit.Limit, r *ratelimit.Result) seen {
	at := r.Receipt.At
	return seen{used: r.Used, at: at, end: max(at, r.Now+r.ResetAfter.Microseconds()), quota: l.Quota}
}

// guess returns at most what the shared store has in use, of the copy's answer to a look:
// the copy was set to it some time ago. How a bucket was rounded then is not known, nor
// what of a sliding counter was of the last window.
func guess(l *ratelimit.Limit, look *ratelimit.Result, pending int64) seen {
	s := seenBy(l, look).less(l, max(0, pending))
	s.local = true
	switch {
	case l.Algorithm == ratelimit.SlidingCounter:
		s.used = 0
	case l.Algorithm != ratelimit.FixedWindow:
		s = s.less(l, 1)
	}
	return s
}

// less returns what is in use where units are given back.
func (s seen) less(l *ratelimit.Limit, units int64) seen {
	s.used = max(0, s.used-units)
	s.end = max(s.at, s.end-share(units, l.Window.Microseconds(), l.Quota, s.end))
	return s
}

// shared returns a guess at the shared store's instants, given answers of both to looks
// at one moment.
func (s seen) shared(copys, shareds *ratelimit.Result) seen {
	ahead := shareds.Receipt.At - copys.Receipt.At
	s.at, s.end, s.local = s.at+ahead, s.end+ahead, false
	return s
}

// missing returns how many units of those in doubt the shared store has not charged,
// given its answer to a look: the difference to what it would have in use at least if it
// had. So what was charged is never charged again, and it errs to too little: what others
// charged meanwhile is taken for units in doubt, so as many may be missed; of a sliding
// counter also what it may have drained; and never more than are in doubt. (Where others
// gave back meanwhile, as many may be charged again.)
func (s seen) missing(l *ratelimit.Limit, doubt int64, look *ratelimit.Result) int64 {
	at, length := look.Receipt.At, l.Window.Microseconds()
	var charged int64
	switch l.Algorithm {
	case ratelimit.FixedWindow:
		charged = look.Used
		if window(l, at) == window(l, s.at) {
			charged -= s.used
		}
	case ratelimit.SlidingCounter:
		// It is taken to have drained as fast as it can: as if all that it had in use was of
		// the last window.
		drained, passed := s.used, at-s.at
		if window(l, at) == window(l, s.at) {
			drained = share(s.used, passed, length-s.at%length, s.used)
		} else {
			drained += share(doubt, passed, length, doubt)
		}
		charged = look.Used - s.used + drained
	default:
		// Its end tells more than its units do, which are rounded: the end moves by W/N for
		// each, whatever drains. Both are rounded up to 1 µs, so that a few are missed where
		// a unit is less than 6 µs.
		if s.quota != l.Quota {
			return 0
		}
		moved := seenBy(l, look).end - s.end + 2
		charged = share(2*moved, l.Quota, length, 2*doubt+1) / 2 // to the nearest
	}
	return min(max(0, doubt-charged), doubt)
}

// share returns units·part/whole, rounded up, at most most; 0 for what is negative.
func share(units, part, whole, most int64) int64 {
	hi, lo := bits.Mul64(uint64(max(0, units)), uint64(max(0, part)))
	lo, carry := bits.Add64(lo, uint64(whole-1), 0)
	if hi += carry; hi >= uint64(whole) {
		return most
	}
	n, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(min(n, uint64(most)))
}
