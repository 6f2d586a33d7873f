package ratelimit

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// policy is a Policy, checked, with what does not change between requests.
type policy struct {
	Policy
	space *Space
	local *Space // on the fallback, of FailLocal
	mode  Mode
	delay time.Duration

	keyed   atomic.Bool  // a request had a key
	keyless atomic.Int32 // requests that had none, before
}

func (p *Policy) validate() error {
	var bad problems
	if !validName(p.Name) {
		bad.add("Name", "must match [a-z0-9][a-z0-9._-]{0,63}")
	}
	limits := p.Limit.Validate()
	bad.under("Limit.", limits)
	if p.Key == nil {
		bad.add("Key", "is required: who is counted? (keyfuncs.ClientIP, keyfuncs.Everyone, ...)")
	}
	if p.Most != p.Limit {
		most := p.Most.Validate()
		bad.under("Most.", most)
		limits = errors.Join(limits, most)
		if p.Vary == nil {
			bad.add("Most", "bounds Vary, and there is none")
		}
		if p.Most.Algorithm != p.Limit.Algorithm || p.Most.Window != p.Limit.Window {
			bad.add("Most", "must have the algorithm and window of Limit")
		}
	}
	if p.OnFailure > FailLocal {
		bad.add("OnFailure", "is unknown: %d", p.OnFailure)
	}
	if p.NoKey > NoKeyDeny {
		bad.add("NoKey", "is unknown: %d", p.NoKey)
	}
	if p.Over.action == overDelay && limits == nil {
		switch wait, most := p.Over.wait, maxDelay(p.Most); {
		case p.Limit.Algorithm != TokenBucket && p.Limit.Algorithm != GCRA:
			bad.add("Over", "Delay belongs to token bucket and GCRA, not to %v", p.Limit.Algorithm)
		case wait <= 0 || wait%time.Microsecond != 0:
			bad.add("Over", "Delay must be positive, in whole microseconds, is %v", wait)
		case wait > most:
			bad.add("Over", "Delay must be at most %v for this limit, is %v", most, wait)
		}
	}
	return bad.join()
}

// maxDelay returns the longest wait whose reservations a bucket's level can hold.
func maxDelay(l Limit) time.Duration {
	longest := time.Duration(algorithm.MulDiv(algorithm.MaxLevel-l.Capacity(), int64(l.Window), l.Quota))
	return min(longest.Truncate(time.Microsecond), MaxWindow)
}

func validName(name string) bool {
	if name == "" || len(name) > 64 || strings.ContainsAny(name[:1], "._-") {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// same reports whether two policies are one: copies of one value. Functions have no
// equality in Go, so it compares which closure they are.
func (p *policy) same(o *Policy) bool {
	a, b := &p.Policy, o
	return a.Name == b.Name && a.Limit == b.Limit && a.Most == b.Most && a.Over == b.Over &&
		a.OnFailure == b.OnFailure && a.NoKey == b.NoKey &&
		closure(&a.Key) == closure(&b.Key) && closure(&a.Cost) == closure(&b.Cost) &&
		closure(&a.If) == closure(&b.If) && closure(&a.Vary) == closure(&b.Vary)
}

// closure returns the address that a func value holds.
func closure[F any](f *F) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(f)) }
