package ratelimit

import "time"

// HeaderStyle says how limits are told. The zero value is X-RateLimit-Limit,
// -Remaining and -Reset on every limited answer, the de-facto standard. Denials
// carry Retry-After in every style.
type HeaderStyle struct {
	// Draft adds the fields of a draft of the IETF's RateLimit header fields.
	Draft Draft

	// OmitX leaves X-RateLimit-* out.
	OmitX bool

	// ResetDelta makes X-RateLimit-Reset seconds from now, instead of the second
	// since 1970 at which the whole quota is back.
	ResetDelta bool

	// Jitter is the most that is added to Retry-After, at random, so that clients
	// that were denied together do not come back together. Never earlier.
	Jitter time.Duration

	// PartitionKey, a secret, adds to Draft11 the parameter pk: the key that was
	// counted, as a keyed hash.
	PartitionKey []byte
}

// Draft is a draft of draft-ietf-httpapi-ratelimit-headers.
type Draft uint8

const (
	NoDraft Draft = iota
	Draft6        // RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset
	Draft11       // RateLimit-Policy, RateLimit: structured fields, one member a policy
	numDrafts
)

func (s HeaderStyle) validate() error {
	var bad problems
	if s.Draft >= numDrafts {
		bad.add("Draft", "is unknown: %d", s.Draft)
	}
	if s.Jitter < 0 || s.Jitter > MaxWindow {
		bad.add("Jitter", "must be 0 to 366 days, is %v", s.Jitter)
	}
	if s.PartitionKey != nil && s.Draft != Draft11 {
		bad.add("PartitionKey", "belongs to Draft11")
	}
	if s.PartitionKey != nil && len(s.PartitionKey) == 0 {
		bad.add("PartitionKey", "must not be empty")
	}
	return bad.join()
}

// first returns the name of a header that every limited answer has in this style;
// Retry-After, which no allowed one has, where there is none.
func (s HeaderStyle) first() string {
	switch {
	case !s.OmitX:
		return xLimit
	case s.Draft == Draft6:
		return d6Limit
	case s.Draft == Draft11:
		return d11Limit
	default:
		return retryAfter
	}
}

// HeaderNames returns the names of the headers of this style that browsers hide from
// scripts unless a CORS set-up lists them in Access-Control-Expose-Headers.
func (s HeaderStyle) HeaderNames() []string {
	var names []string
	if !s.OmitX {
		names = append(names, xLimit, xRemaining, xReset)
	}
	switch s.Draft {
	case Draft6:
		names = append(names, d6Limit, d6Remaining, d6Reset)
	case Draft11:
		names = append(names, d11Policy, d11Limit)
	}
	return append(names, retryAfter)
}
