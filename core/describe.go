package ratelimit

import (
	"fmt"
	"strings"
)

// Describe returns the limits in force, a line a policy, for a log at start-up:
//
//	login: 10 per 5m (sliding_log), above it denied
func (l *Limiter) Describe() string {
	var b strings.Builder
	_, inMemory := l.store.(*Memory) // which is never down
	for _, p := range l.policies {
		fmt.Fprintf(&b, "%s: %s, above it %s", p.Name, p.Limit.words(), p.Over.words())
		if p.Vary != nil {
			fmt.Fprintf(&b, "; varies, at most %s", p.Most.words())
		}
		if p.If != nil {
			b.WriteString("; some requests only")
		}
		switch {
		case p.NoKey == NoKeySkip:
			b.WriteString("; without a key unlimited")
		case p.NoKey == NoKeyDeny && p.mode.denies():
			b.WriteString("; without a key denied")
		}
		switch {
		case p.OnFailure == FailClosed && p.mode != Observe:
			b.WriteString("; 503 while the store is down")
		case p.local != nil:
			fmt.Fprintf(&b, "; %s while the store is down", p.local.Limits[0].words())
		case !inMemory && p.mode.denies():
			b.WriteString("; unlimited while the store is down")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (l Limit) words() string {
	s := fmt.Sprintf("%d per %s", l.Quota, windowText(l.Window))
	if c := l.Capacity(); c != l.Quota {
		s += fmt.Sprintf(", %d at once", c)
	}
	return s + " (" + l.Algorithm.String() + ")"
}

func (o Over) words() string {
	switch o.action {
	case overDelay:
		return fmt.Sprintf("delayed up to %v, then denied", o.wait)
	case overShadow:
		return "only reported (shadow)"
	case overMeter:
		return "admitted and counted (meter)"
	default:
		return "denied"
	}
}
