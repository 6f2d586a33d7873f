package ratelimit

import "fmt"

// Validate returns everything that is wrong with the space, as *[ConfigError] values
// joined, or nil. A store calls it in Open, and adds what it cannot hold itself.
func (s *Space) Validate() error {
	var bad problems
	switch {
	case s.Penalty != nil:
		bad.under("", s.Penalty.Validate())
	case len(s.Limits) == 0:
		bad.add("Limits", "of a space are missing")
	default:
		first := s.Limits[0]
		for i, l := range s.Limits {
			bad.under(s.field(i), l.Validate())
			if l.Algorithm != first.Algorithm || l.Window != first.Window {
				bad.add("Limits", "of one space must share algorithm and window")
			}
		}
		if s.Lease && first.Algorithm != SlidingLog {
			bad.add("Limit.Algorithm", "of a lease must be %v, is %v", SlidingLog, first.Algorithm)
		}
	}
	return bad.join()
}

// ValidateLogs returns which quotas of the space's are above what the store can hold
// of a sliding log, as Validate does.
func (s *Space) ValidateLogs(most int64) error {
	var bad problems
	for i, l := range s.Limits {
		if l.Algorithm == SlidingLog && l.Quota > most {
			bad.add(s.field(i)+"Quota", "of a sliding log in this store is at most %d, is %d", most, l.Quota)
		}
	}
	return bad.join()
}

// field names the i-th limit as a policy does.
func (s *Space) field(i int) string {
	if i == 0 {
		return "Limit."
	}
	return fmt.Sprintf("Limits[%d].", i)
}

var (
	errNotOpened = fmt.Errorf("%w: the space was never opened", ErrMisuse)
	errStrike    = fmt.Errorf("%w: a Strike, and nothing else, goes to a penalty space", ErrMisuse)
	errSpill     = fmt.Errorf("%w: a Spill follows the Enforce charge that it belongs to", ErrMisuse)
	errUnits     = fmt.Errorf("%w: units and costs are at least 0, under a valid limit of the space's algorithm and window", ErrMisuse)
	errReset     = fmt.Errorf("%w: strikes can only be reset", ErrMisuse)
	errRenew     = fmt.Errorf("%w: only a lease can be renewed", ErrMisuse)
	errOp        = fmt.Errorf("%w: the operation is unknown", ErrMisuse)
)

// CheckTake returns what no store can do of a Take, an error that wraps [ErrMisuse], or
// nil. It does not know what was opened.
func CheckTake(charges []Charge, results []Result) error {
	if len(charges) != len(results) {
		return fmt.Errorf("%w: %d charges and %d results", ErrMisuse, len(charges), len(results))
	}
	for i := range charges {
		if err := checkCharge(charges, i); err != nil {
			return fmt.Errorf("%w: policy %q", err, charges[i].Space.Policy)
		}
	}
	return nil
}

func checkCharge(charges []Charge, i int) error {
	switch c := &charges[i]; {
	case !c.Space.takes(&c.Limit, c.Cost):
		return errUnits
	case (c.Mode == Strike) != (c.Space.Penalty != nil):
		return errStrike
	case c.Mode == Spill && (i == 0 || charges[i-1].Mode != Enforce):
		return errSpill
	default:
		return nil
	}
}

// CheckAdjustment is CheckTake for one adjustment.
func CheckAdjustment(a *Adjustment) error {
	var err error
	switch {
	case a.Op > Reset:
		err = errOp
	case a.Op == Reset:
		return nil
	case a.Space.Penalty != nil:
		err = errReset
	case !a.Space.takes(&a.Limit, a.Units):
		err = errUnits
	case a.Op == Renew && !a.Space.Lease:
		err = errRenew
	default:
		return nil
	}
	return fmt.Errorf("%w: policy %q", err, a.Space.Policy)
}

// takes reports whether units of a limit are something that a key of the space can
// be charged.
func (s *Space) takes(l *Limit, units int64) bool {
	switch {
	case units < 0:
		return false
	case s.Penalty != nil:
		return true
	case len(s.Limits) == 0:
		return false
	case s.Limits[0] == *l: // validated by Open: the usual case
		return true
	default:
		first := &s.Limits[0]
		return l.Algorithm == first.Algorithm && l.Window == first.Window && l.Validate() == nil
	}
}
