package ratelimit

import (
	"context"
	"math"
	"strconv"
	"sync/atomic"
	"time"
)

// Never is the RetryAfter of a cost that no wait makes fit.
const Never time.Duration = math.MaxInt64

// Store counts. It models the place where the state of every key lives, and is
// the one interface between the limiter and memory, Redis, or a wrapper of
// another store. Package storetest holds what any implementation must keep.
//
// Methods are safe for concurrent use. An error means that the store failed, or
// that it cannot do what it was asked (a negative cost, an invalid limit, a space
// that was never opened: the error wraps [ErrMisuse]), never "over the limit". No store touches
// charges, keys, results or adjustments after it returned: one that leaves a call
// behind works on copies.
type Store interface {
	// Open prepares the store for a space. It returns an error for what the store
	// cannot hold (an algorithm, a quota, a lease). Opening a second space of the
	// same Prefix shares the counters of the first.
	Open(space *Space) error

	// Take makes all charges, or none of them. It fills results[i] for charges[i];
	// both have the same length. See [Charge] and [Result].
	Take(ctx context.Context, charges []Charge, results []Result) error

	// Adjust corrects what was charged, without asking whether it fits, in order,
	// each on its own. It rewrites the receipts.
	Adjust(ctx context.Context, adjustments []Adjustment) error
}

// Mode says what a charge does in a Take.
type Mode uint8

const (
	// Enforce denies the whole Take where the charge does not fit.
	Enforce Mode = iota
	// Observe (shadow) never denies. It is charged only if the Take is admitted
	// and the charge fits; Allowed says whether it fits.
	Observe
	// Force (meter) never denies. It is charged whenever the Take is admitted,
	// into debt if need be; Allowed says whether it fits.
	Force
	// Spill belongs to the Enforce charge just before it, which then takes
	// min(Cost, Remaining); the Spill takes the rest. Its own Cost is ignored. The
	// Take is denied, both Allowed false, when the rest does not fit; RetryAfter
	// of both is then the wait until the two together hold the cost.
	Spill
	// Strike counts one when an Enforce or Spill charge denied the Take. The
	// denial that completes Penalty.Denials begins a ban; while the ban lasts the
	// Strike denies the Take itself (Allowed false, RetryAfter its end) and
	// counts nothing. Its own Cost is ignored, except that 0 only looks.
	Strike
)

// denies reports whether a charge of the mode can deny a Take.
func (m Mode) denies() bool { return m != Observe && m != Force }

// Space is where the keys of one policy, algorithm and window live. It is made
// once, by [NewSpace] or a sibling, and used by pointer.
type Space struct {
	Policy  string   // name of the policy
	Prefix  []byte   // what the stored keys start with; equal prefixes share counters
	Limits  []Limit  // the limits known at start, of one Algorithm and Window
	Lease   bool     // charges are leases: each counts until refunded, or for Window
	Penalty *Penalty // set in a space of Strike charges

	memory atomic.Pointer[memorySpace] // where the memory store that opened it last keeps it
}

// Penalty bans a key that is denied too often. The ban begins with the denial
// that makes it Denials within any span of Within, and lasts Ban·Factor^n, at
// most Max, after n earlier bans (n stops at 1,023). Earlier bans are forgotten once a ban has been
// over for as long as it lasted, and at least for Within, with no new one.
type Penalty struct {
	Denials int64         // 1 to 10,000
	Within  time.Duration // MinWindow to MaxWindow, in whole microseconds
	Ban     time.Duration // MinWindow to MaxWindow, in whole microseconds
	Factor  float64       // at least 1; 0 means 1
	Max     time.Duration // Ban to MaxWindow, in whole microseconds; 0 means Ban where Factor is 1, else MaxWindow
}

// Charge asks for Cost units of Limit under Key.
type Charge struct {
	Space    *Space
	Key      []byte        // any bytes; with Space it names the state
	Limit    Limit         // of the Space's algorithm and window; ignored by Strike
	Cost     int64         // units, at least 0; 0 looks: always allowed, charges nothing
	MaxDelay time.Duration // token bucket and GCRA: a reservation may wait this long, in whole microseconds; what drains in it and the capacity stay below 2^32 units
	Mode     Mode
}

// Result says how a charge fared.
//
// In an admitted Take the numbers are what holds right after the charge; in a
// denied one they are the untouched state, and Allowed says whether the charge
// fits after those before it on the same key. Waits are told from the caller's
// instant, Now, in whole microseconds, rounded up; those beyond 2^53 µs are told as
// that. (Delay alone counts from the last write where the clock went back behind it:
// it is slept, and must not grow by the step.) For a limit of capacity C:
//
//	10 per minute, token bucket, 10 taken at 0s:  Remaining 0, NextAfter 6s, ResetAfter 60s
//	one more asked for at 1s:                     Allowed false, RetryAfter 5s
//
// A store that knows a Take to be denied by one charge may leave others unasked. Their
// results tell Allowed and nothing else.
type Result struct {
	Allowed    bool          // the charge fits (for modes that never deny: would fit)
	Used       int64         // units in use, debt included
	Remaining  int64         // the largest cost admitted now without delay: max(0, C − Used)
	RetryAfter time.Duration // where not Allowed: the shortest wait until the same cost is admitted; or Never
	ResetAfter time.Duration // the shortest wait until the whole quota is back
	NextAfter  time.Duration // the shortest wait until Remaining grows by one; 0 when full
	Delay      time.Duration // an admitted charge waits this long: a queue's, or a reservation's
	Now        int64         // the instant of the decision, µs since 1970, which the waits count from; 0: not asked, see below
	Receipt    Receipt
}

// Receipt is what an Adjustment of the same charge needs. Its instants are the
// store's own.
type Receipt struct {
	At    int64 // the instant that the charge counts at, µs since 1970: Now, or the last write's; set on looks and denials too
	Units int64 // what was charged in fact
	End   int64 // where a queue's end was put, µs since 1970
}

// Op is the kind of an Adjustment.
type Op uint8

const (
	// Refund undoes Units of the receipt's charge: windows give back only to the
	// window that was charged, a log and a lease from that entry, buckets at most
	// their level, a queue only while its end is where the charge put it. Nothing
	// rises above full. Receipt.Units falls by Units. Several charges of one Take are
	// undone the last first.
	Refund Op = iota
	// Extra charges Units now, into debt if need be, and writes the receipt of
	// that charge.
	Extra
	// Renew moves what is left of a lease's charge (Receipt.Units) to now, as a
	// new charge where it has lapsed, and rewrites Receipt.At. Leases only.
	Renew
	// Reset forgets the key.
	Reset
)

// Adjustment corrects a charge after it was made.
type Adjustment struct {
	Op      Op
	Space   *Space
	Key     []byte
	Limit   Limit   // as it was charged under
	Units   int64   // of Refund and Extra, at least 0
	Receipt Receipt // in and out
}

// NewSpace returns the space of a policy's limits, which share algorithm and window.
// It panics without a limit.
func NewSpace(policy string, limits ...Limit) *Space {
	return &Space{Policy: policy, Limits: limits, Prefix: spacePrefix(policy, limits[0].Algorithm.code(), limits[0].Window)}
}

// NewLeaseSpace returns a space whose charges are leases: at most limit.Quota at
// once, each until it is refunded, or for limit.Window after it was made or last
// renewed. The limit's algorithm is SlidingLog.
func NewLeaseSpace(policy string, limit Limit) *Space {
	return &Space{Policy: policy, Limits: []Limit{limit}, Lease: true, Prefix: spacePrefix(policy, "ls", limit.Window)}
}

// NewPenaltySpace returns a space for Strike charges.
func NewPenaltySpace(policy string, penalty Penalty) *Space {
	return &Space{Policy: policy, Penalty: &penalty, Prefix: spacePrefix(policy, "pn", penalty.Within)}
}

// spacePrefix joins what tells spaces apart. No two inputs meet: a policy's name
// holds no colon, and the key follows the last one.
func spacePrefix(policy, kind string, window time.Duration) []byte {
	b := append([]byte(policy), ':')
	b = append(append(b, kind...), ':')
	return append(strconv.AppendInt(b, window.Microseconds(), 10), ':')
}

// code is the algorithm's part of a stored key.
func (a Algorithm) code() string {
	if a >= numAlgorithms {
		return "?" // which no store opens
	}
	return [numAlgorithms]string{"tb", "gc", "lb", "fw", "sl", "sc"}[a]
}
