package ratelimit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weirhq/ratelimit/core/internal/algorithm"
)

// Config is everything a Limiter is made of. It is copied and checked once, by New.
type Config struct {
	Store     Store         // where counts live; nil: an own Memory
	Policies  []Policy      // all of them must admit a request; none is charged if one denies
	Headers   HeaderStyle   // zero: X-RateLimit-*
	Answer    AnswerStyle   // body of a denial; zero: JSON
	OnFailure FailureMode   // when the store fails; zero: FailOpen
	Observer  Observer      // nil: misconfigurations go to slog's default logger, nothing else
	Preflight PreflightMode // zero: true CORS preflights are not limited
}

// PreflightMode says what happens to true CORS preflights: OPTIONS requests with
// Origin and Access-Control-Request-Method, which browsers send by themselves.
type PreflightMode uint8

const (
	PreflightSkip  PreflightMode = iota // neither limited nor counted
	PreflightLimit                      // as any other request
)

// New returns a limiter, or everything that is wrong with the configuration: an
// error that joins *[ConfigError] values, each naming its field.
func New(config Config) (*Limiter, error) {
	var bad problems
	l := &Limiter{
		store: config.Store, observer: config.Observer, reporter: config.Observer,
		headers: config.Headers, answer: config.Answer, preflight: config.Preflight,
		onFailure: config.OnFailure, family: &family{policies: map[string]*policy{}, said: map[saying]bool{}},
	}
	l.headers.PartitionKey = slices.Clone(config.Headers.PartitionKey)
	l.family.doubled.left.Store(watchedRequests)
	l.ends, _ = config.Observer.(EndObserver)
	if l.reporter == nil {
		l.reporter = codeLogger{}
	}
	if l.store == nil {
		l.store = NewMemory(MemoryConfig{Observer: config.Observer})
	}
	if m, ok := l.store.(*Memory); ok && m.validate() != nil {
		bad.under("Store: ", m.validate())
		l.store = new(Memory) // so that the rest is checked all the same
	}
	if l.onFailure == FailDefault {
		l.onFailure = FailOpen
	}
	if config.OnFailure > FailClosed {
		bad.add("OnFailure", "is unknown: %d", config.OnFailure)
		l.onFailure = FailOpen // so that the policies are not blamed for it
	}
	if config.Preflight > PreflightLimit {
		bad.add("Preflight", "is unknown: %d", config.Preflight)
	}
	bad.under("Headers.", config.Headers.validate())
	if config.Answer > AnswerText {
		bad.add("Answer", "is unknown: %d", config.Answer)
	}
	bad.under("", l.adopt(config.Policies))
	if bad != nil {
		return nil, bad.join()
	}
	return l, nil
}

// Must is New for start-up code: it panics on an error.
func Must(config Config) *Limiter {
	l, err := New(config)
	if err != nil {
		panic(err)
	}
	return l
}

// With returns a limiter with these policies instead of the receiver's, and the same
// store, headers and observer: for one route, or one kind of job. A policy used in several
// places shares its counters. With panics on what New would refuse, since it runs
// at start-up, where routes are declared.
func (l *Limiter) With(policies ...Policy) *Limiter {
	other := *l
	other.policies = nil
	if err := other.adopt(policies); err != nil {
		panic(err)
	}
	return &other
}

// policy is a Policy, checked, with what does not change between requests.
type policy struct {
	Policy
	space *Space
	mode  Mode
	delay time.Duration

	keyed   atomic.Bool  // a request had a key
	keyless atomic.Int32 // requests that had none, before
}

// family is what a limiter and its Withs share.
type family struct {
	tickets sync.Pool
	doubled doubled

	mu       sync.RWMutex
	policies map[string]*policy
	said     map[saying]bool
}

// adopt checks the policies and makes them the limiter's.
func (l *Limiter) adopt(policies []Policy) error {
	l.family.mu.Lock()
	defer l.family.mu.Unlock()
	var bad problems
	for i, p := range policies {
		part := fmt.Sprintf("Policies[%d] %q: ", i, p.Name)
		for _, other := range l.policies {
			if other.Name == p.Name {
				bad.add(part+"Name", "is used twice")
			}
		}
		if p.Most == (Limit{}) {
			p.Most = p.Limit
		}
		if p.OnFailure == FailDefault {
			p.OnFailure = l.onFailure
		}
		known := l.family.policies[p.Name]
		if known != nil && !known.same(&p) {
			bad.add(part+"Name", "already names a different policy")
			continue
		}
		if known == nil {
			if err := p.validate(); err != nil {
				bad.under(part, asMost(err))
				continue
			}
			known = &policy{Policy: p, space: NewSpace(p.Name, p.Limit), mode: p.Over.mode(), delay: p.Over.wait}
			if p.Most != p.Limit {
				known.space.Limits = append(known.space.Limits, p.Most)
			}
			if err := l.store.Open(known.space); err != nil {
				bad.under(part, asMost(err))
				continue
			}
		}
		l.policies = append(l.policies, known)
	}
	if bad != nil {
		return bad.join()
	}
	for _, p := range l.policies {
		l.family.policies[p.Name] = p
	}
	return nil
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
	if p.OnFailure > FailClosed {
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

// errIs is errors.Is for the usual case of the error itself.
func errIs(err, target error) bool { return err == target || errors.Is(err, target) }

// asMost names the second limit of a policy's space as the policy does.
func asMost(err error) error {
	var named problems
	named.under("", err)
	for _, err := range named {
		if e, ok := err.(*ConfigError); ok {
			e.Field = strings.Replace(e.Field, "Limits[1].", "Most.", 1)
		}
	}
	return named.join()
}
