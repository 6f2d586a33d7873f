package ratelimit

import (
	"time"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

const maxDenials = 10_000

// Validate returns everything that is wrong with the penalty, as *[ConfigError]
// values joined, or nil.
func (p Penalty) Validate() error {
	var bad problems
	if p.Denials < 1 || p.Denials > maxDenials {
		bad.add("Penalty.Denials", "must be 1 to %d, is %d", maxDenials, p.Denials)
	}
	span := func(field string, d, least time.Duration) {
		if d < least || d > MaxWindow || d%time.Microsecond != 0 {
			bad.add("Penalty."+field, "must be %v to 366 days in whole microseconds, is %v", least, d)
		}
	}
	span("Within", p.Within, MinWindow)
	span("Ban", p.Ban, MinWindow)
	if p.Max != 0 {
		span("Max", p.Max, max(p.Ban, MinWindow))
	}
	if p.Factor != 0 && !(p.Factor >= 1 && p.Factor <= 1e9) { // not NaN either
		bad.add("Penalty.Factor", "must be 0 (1) or 1 to 1e9, is %v", p.Factor)
	}
	return bad.join()
}

// micros returns the penalty as the algorithm takes it, zero fields resolved.
func (p Penalty) micros() *algorithm.Penalty {
	if p.Factor == 0 {
		p.Factor = 1
	}
	if p.Max == 0 {
		p.Max = MaxWindow
		if p.Factor == 1 {
			p.Max = p.Ban
		}
	}
	return &algorithm.Penalty{
		Denials: p.Denials, Within: p.Within.Microseconds(),
		Ban: p.Ban.Microseconds(), Max: p.Max.Microseconds(), Factor: p.Factor,
	}
}
