package storetest

import (
	"fmt"
	"strings"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

var modeNames = [...]string{
	ratelimit.Enforce: "enforce", ratelimit.Observe: "observe", ratelimit.Force: "force",
	ratelimit.Spill: "spill", ratelimit.Strike: "strike",
}

var opNames = [...]string{
	ratelimit.Refund: "refund", ratelimit.Extra: "extra", ratelimit.Renew: "renew", ratelimit.Reset: "reset",
}

func (st step) String() string {
	if st.charges == nil {
		a := st.adjust
		s := fmt.Sprintf("%s %d of %s under %s", opNames[a.Op], a.Units, keyText(a.Space, a.Key), limitText(a.Limit))
		if st.of != nil {
			s += fmt.Sprintf(", the charge of receipt %v", *st.of)
		}
		return s
	}
	parts := make([]string, len(st.charges))
	for i, c := range st.charges {
		parts[i] = fmt.Sprintf("%s %d of %s", modeNames[c.Mode], c.Cost, keyText(c.Space, c.Key))
		if c.Space.Penalty == nil {
			parts[i] += " under " + limitText(c.Limit)
		}
		if c.MaxDelay > 0 {
			parts[i] += fmt.Sprintf(" within %d", micros(c.MaxDelay))
		}
	}
	return fmt.Sprintf("(receipts %d) ", st.id) + strings.Join(parts, "; ")
}

func keyText(s *ratelimit.Space, key []byte) string { return fmt.Sprintf("%s:%q", s.Policy, key) }

func limitText(l ratelimit.Limit) string {
	return fmt.Sprintf("%v %d per %d burst %d", l.Algorithm, l.Quota, micros(l.Window), l.Burst)
}

// resultText tells everything of a result but what a look's queue would end at.
func resultText(r ratelimit.Result) string {
	return fmt.Sprintf("allowed %t used %d remaining %d retry %d reset %d next %d delay %d now %d receipt %s",
		r.Allowed, r.Used, r.Remaining, micros(r.RetryAfter), micros(r.ResetAfter), micros(r.NextAfter), micros(r.Delay), r.Now, receiptText(r.Receipt))
}

func receiptText(r ratelimit.Receipt) string {
	s := fmt.Sprintf("{at %d units %d", r.At, r.Units)
	if r.Units > 0 {
		s += fmt.Sprintf(" end %d", r.End)
	}
	return s + "}"
}

// micros returns a duration in µs, -1 for Never.
func micros(d time.Duration) int64 {
	if d == ratelimit.Never {
		return -1
	}
	return int64(d / time.Microsecond)
}

func duration(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
