package redisstore

import (
	"errors"
	"math"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// How many numbers a reply holds of each charge, and of each adjustment.
const (
	resultNumbers  = 10
	receiptNumbers = 3
)

var errReply = errors.New("ratelimit: redis: the script's reply is none that this version understands")

// decodeTake fills in results from the reply to their charges. Where it returns an error,
// results are not to be used.
func decodeTake(reply string, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if len(reply) != 8*(1+resultNumbers*len(charges)) {
		return errReply
	}
	r := reader{rest: reply}
	now := r.number(1, most)
	for i := range charges {
		capacity := charges[i].Limit.Capacity()
		if charges[i].Mode == ratelimit.Strike {
			capacity = maxEntries // of denials
		}
		results[i] = ratelimit.Result{
			Allowed:    r.number(0, 1) == 1,
			Used:       r.number(0, most),
			Remaining:  r.number(0, capacity),
			RetryAfter: r.wait(-1),
			ResetAfter: r.wait(0),
			NextAfter:  r.wait(0),
			Delay:      r.wait(0),
			Now:        now,
			Receipt:    ratelimit.Receipt{At: r.number(0, most), Units: r.number(0, most), End: r.number(0, most)},
		}
	}
	return r.err
}

// decodeAdjust rewrites the receipts of adjustments from the reply to them. Where it
// returns an error, they are not to be used.
func decodeAdjust(reply string, adjustments []ratelimit.Adjustment) error {
	if len(reply) != 8*receiptNumbers*len(adjustments) {
		return errReply
	}
	r := reader{rest: reply}
	for i := range adjustments {
		a := &adjustments[i]
		told := ratelimit.Receipt{At: r.receipt(a.Receipt.At), Units: r.receipt(a.Receipt.Units), End: r.receipt(a.Receipt.End)}
		switch {
		case a.Op == ratelimit.Refund:
			a.Receipt.Units, a.Receipt.End = max(0, a.Receipt.Units-a.Units), told.End
		case a.Op != ratelimit.Reset:
			a.Receipt = told
		}
	}
	return r.err
}

// reader reads the numbers of a reply, and remembers whether one was impossible.
type reader struct {
	rest string // at least as long as what is read
	err  error
}

func (r *reader) float() float64 {
	var bits uint64
	for i := range 8 {
		bits |= uint64(r.rest[i]) << (8 * i)
	}
	r.rest = r.rest[8:]
	return math.Float64frombits(bits)
}

// number reads a whole number from least to largest.
func (r *reader) number(least, largest int64) int64 {
	x := r.float()
	if !(x >= float64(least) && x <= float64(largest)) || x != math.Trunc(x) { // not NaN either
		r.err = errReply
		return least
	}
	return int64(x)
}

// wait reads a wait; where the least one is -1, that is Never.
func (r *reader) wait(least int64) time.Duration {
	n := r.number(least, most+1)
	if n < 0 {
		return ratelimit.Never
	}
	return time.Duration(n) * time.Microsecond
}

// receipt reads a number of a receipt. One that came back as it was sent stays as it is,
// whatever it is: it need not be of this store.
func (r *reader) receipt(sent int64) int64 {
	if same := (&reader{rest: r.rest}).float() == float64(sent); same {
		r.rest = r.rest[8:]
		return sent
	}
	return r.number(0, most)
}
