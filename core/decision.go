package ratelimit

import "time"

// Outcome says how a request, or one policy's part in it, was decided.
type Outcome uint8

const (
	Skipped     Outcome = iota // no policy applied
	Allowed                    // admitted
	Denied                     // over a limit: 429
	Unavailable                // the store failed; Ticket.Status tells open (0) from closed (503)
	Errored                    // a key, cost or limit function failed: 500
)

// String returns the outcome in lower case, as metrics label it.
func (o Outcome) String() string {
	switch o {
	case Skipped:
		return "skipped"
	case Allowed:
		return "allowed"
	case Denied:
		return "denied"
	case Unavailable:
		return "unavailable"
	default:
		return "errored"
	}
}

// Decision is how one policy decided, with the numbers that its headers tell.
type Decision struct {
	Policy  string
	Outcome Outcome
	Limit   Limit // in force for this request
	Cost    int64 // asked for, in units

	// Fits tells whether the charge was within the limit. A denied request has
	// decisions that fit; a shadow or metered one may be Allowed and not fit.
	Fits bool

	Used       int64         // units in use after the request, debt included
	Remaining  int64         // the largest cost admitted now
	RetryAfter time.Duration // where it does not fit: until the same cost would; or Never
	ResetAfter time.Duration // until the whole quota is back
	NextAfter  time.Duration // until Remaining grows by one; 0 when full
	Delay      time.Duration // how long the request is to wait; of Allow's, for all policies
	Local      bool          // decided on Config.Fallback, under a share of the policy's limit

	at     int64 // µs; 0: not asked
	mode   Mode
	closed bool // a failed store's policy fails closed

	limiter *Limiter // whose it is
}

// Allowed reports whether the request may go on: with a failed store, whether the
// policies fail open.
func (d Decision) Allowed() bool {
	return d.Outcome == Allowed || d.Outcome == Skipped || d.Outcome == Unavailable && !d.closed
}

// Enforced reports whether the policy can deny: it is neither shadow nor meter.
func (d Decision) Enforced() bool { return d.mode.denies() }

// At returns the store's instant of the decision, which the waits count from; the
// zero time where no store was asked.
func (d Decision) At() time.Time {
	if d.at == 0 {
		return time.Time{}
	}
	return time.UnixMicro(d.at)
}

// binding returns the index of the decision to tell: the one that denied with the
// longest wait, else the one with the smallest share left. What cannot deny is told
// only where nothing else can, and a shadow before nothing.
func binding(ds []Decision, o Outcome) int {
	best := 0
	for i := 1; i < len(ds); i++ {
		if ds[i].outranks(&ds[best], o) {
			best = i
		}
	}
	return best
}

func (d *Decision) outranks(o *Decision, outcome Outcome) bool {
	if a, b := d.mode.rank(), o.mode.rank(); a != b {
		return a < b
	}
	if d.at == 0 || o.at == 0 {
		return d.at > o.at // what was asked before what was not
	}
	if outcome == Denied {
		if d.Fits != o.Fits {
			return o.Fits
		}
		if !d.Fits && d.RetryAfter != o.RetryAfter {
			return d.RetryAfter > o.RetryAfter
		}
	}
	return d.Remaining*o.Limit.Capacity() < o.Remaining*d.Limit.Capacity()
}

// rank orders modes by how much a client is concerned.
func (m Mode) rank() int {
	switch m {
	case Observe:
		return 2
	case Force:
		return 1
	default:
		return 0
	}
}
