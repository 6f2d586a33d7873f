package ratelimit

import (
	"context"
	"log/slog"
)

// Observer is told what a limiter decides and what goes wrong. Its methods are
// called on the request's goroutine: they are safe for concurrent use, return
// soon, and keep nothing but copies.
type Observer interface {
	// Decided is called once for each policy that applied to a request. The key is
	// as the key function made it; "#" and a hash where it was long, "!" where the
	// request had none.
	Decided(ctx context.Context, key []byte, d Decision)
	// Reported is called for what is rare, but for failures of the store: of those once
	// a request.
	Reported(ctx context.Context, r Report)
}

// EndObserver is an Observer that is told how requests end as well. Where one is
// configured, adapters find out the status of every limited answer; otherwise they
// do not look.
type EndObserver interface {
	Observer
	// Ended is called once for each request to which a policy applied, and for each
	// ticket of Acquire; not for Allow, Peek and Wait, which have no end.
	Ended(ctx context.Context, e Ended)
}

// Ended is how a request ended, as the adapter told Ticket.End.
type Ended struct {
	Outcome Outcome // how it had been decided: only Allowed and Unavailable reached a handler
	Status  int     // of the answer; 0: not known, as of a connection that was taken over
	Err     error   // what the handler returned, where handlers return errors
}

// Report is something that an operator may want to know.
type Report struct {
	Kind   ReportKind
	Policy string // the policy it is about, if any
	Code   Code   // of ReportMisconfigured
	Detail string // in words, for ReportMisconfigured and ReportBreaker
	Err    error  // of the error kinds
	N      int64  // of ReportEvicted: keys
}

// ReportKind is the kind of a Report.
type ReportKind uint8

const (
	ReportMisconfigured ReportKind = iota // the app's set-up defeats a limit; once per code and policy
	ReportKeyError                        // a key function failed: 500
	ReportCostError                       // a cost function failed, or the cost was negative: 500
	ReportLimitError                      // Vary returned an invalid limit: 500
	ReportStoreError                      // the store failed: OnFailure decided
	ReportAdjustError                     // a correction was lost; it ends with its window or lease
	ReportEvicted                         // the memory store was full and forgot keys
	ReportBreaker                         // a circuit breaker changed its state: Detail; Err, where a failure made it
)

// Code names a misconfiguration. docs/codes.md explains each.
type Code string

// The codes.
const (
	// CodeUntrustedProxy: a forwarding header arrives from a private address, or
	// over a unix socket, that is not trusted, so all clients behind that proxy are
	// counted as one.
	CodeUntrustedProxy Code = "RL001"
	// CodeDoubled: a policy is charged twice for one request.
	CodeDoubled Code = "RL002"
	// CodeNeverKeyed: none of the first requests had a key.
	CodeNeverKeyed Code = "RL003"
	// CodeClientTimeout: a Redis client does not honour the deadlines of contexts.
	CodeClientTimeout Code = "RL004"
)

// URL returns the address of the page that explains the code.
func (c Code) URL() string {
	return "https://github.com/weirhq/ratelimit/blob/main/docs/codes.md#" + string(c)
}

// To tells an observer of the report. Where it is nil, a misconfiguration is logged
// with slog's default logger, and nothing else is. Stores that take an Observer call it.
func (r Report) To(ctx context.Context, o Observer) {
	if o == nil {
		o = codeLogger{}
	}
	o.Reported(ctx, r)
}

// codeLogger is the observer where none is configured: it logs misconfigurations
// with slog's default logger, and nothing else.
type codeLogger struct{}

func (codeLogger) Decided(context.Context, []byte, Decision) {}

func (codeLogger) Reported(ctx context.Context, r Report) {
	if r.Kind == ReportMisconfigured {
		slog.WarnContext(ctx, "ratelimit: "+r.Detail, "code", string(r.Code), "policy", r.Policy, "see", r.Code.URL())
	}
}
