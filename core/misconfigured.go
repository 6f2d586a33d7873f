package ratelimit

import "context"

// saying is what is said once.
type saying struct {
	code   Code
	policy string
}

// misconfigured reports a misconfiguration, the first time.
func (l *Limiter) misconfigured(ctx context.Context, policy string, code Code, detail string) {
	what := saying{code, policy}
	l.family.mu.RLock()
	said := l.family.said[what]
	l.family.mu.RUnlock()
	if said {
		return
	}
	l.family.mu.Lock()
	said = l.family.said[what]
	l.family.said[what] = true
	l.family.mu.Unlock()
	if !said {
		l.reporter.Reported(ctx, Report{Kind: ReportMisconfigured, Policy: policy, Code: code, Detail: detail})
	}
}
