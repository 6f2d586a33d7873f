package ratelimit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Config is everything a Limiter is made of. It is copied and checked once, by New.
type Config struct {
	Store     Store         // where counts live; nil: an own Memory
	Policies  []Policy      // all of them must admit a request; none is charged if one denies
	Headers   HeaderStyle   // zero: X-RateLimit-*
	Answer    AnswerStyle   // body of a denial; zero: JSON
	OnFailure FailureMode   // when the store fails; zero: FailLocal where there is a Fallback, else FailOpen
	Fallback  Store         // where FailLocal counts meanwhile, usually a Memory of this instance; nil: nowhere
	Share     float64       // of each limit that Fallback holds, above 0 and up to 1: of n instances 1/n
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
		onFailure: config.OnFailure, fallback: config.Fallback, share: config.Share, family: &family{policies: map[string]*policy{}, said: map[saying]bool{}},
	}
	l.headers.PartitionKey = slices.Clone(config.Headers.PartitionKey)
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
	bad.under("", l.checkFailure())
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

// checkFailure resolves and checks what is to happen when the store fails. What is
// wrong it makes harmless, so that the policies are not blamed for it.
func (l *Limiter) checkFailure() error {
	var bad problems
	if m, ok := l.fallback.(*Memory); ok && m.validate() != nil {
		bad.under("Fallback: ", m.validate())
		l.fallback = new(Memory)
	}
	switch {
	case l.fallback == nil:
		if l.share != 0 {
			bad.add("Share", "belongs to a Fallback, and there is none")
		}
	case sameStore(l.fallback, l.store):
		bad.add("Fallback", "must not be the Store itself, which has just failed")
	}
	if l.fallback != nil && !(l.share > 0 && l.share <= 1) { // not NaN either
		bad.add("Share", "must be above 0 and at most 1, is %v", l.share)
		l.share = 1
	}
	switch {
	case l.onFailure == FailDefault && l.fallback != nil:
		l.onFailure = FailLocal
	case l.onFailure == FailDefault:
		l.onFailure = FailOpen
	case l.onFailure > FailLocal:
		bad.add("OnFailure", "is unknown: %d", l.onFailure)
		l.onFailure = FailOpen
	case l.onFailure == FailLocal && l.fallback == nil:
		bad.add("OnFailure", "FailLocal needs a Fallback")
		l.onFailure = FailOpen
	}
	return bad.join()
}

// sameStore compares two stores, which need not be comparable.
func sameStore(a, b Store) bool {
	return b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
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
// store, headers and observer: for one route, or one kind of job. A policy used in
// several places shares its counters. With panics on what New would refuse, since
// it runs at start-up, where routes are declared.
func (l *Limiter) With(policies ...Policy) *Limiter {
	other := *l
	other.policies = nil
	if err := other.adopt(policies); err != nil {
		panic(err)
	}
	return &other
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
				bad.under(part, err)
				continue
			}
			known = &policy{Policy: p, space: NewSpace(p.Name, p.Limit), mode: p.Over.mode(), delay: p.Over.wait}
			if p.Most != p.Limit {
				known.space.Limits = append(known.space.Limits, p.Most)
			}
			wrong := len(bad)
			bad.under(part, asMost(l.store.Open(known.space)))
			if p.OnFailure == FailLocal {
				bad.under(part, l.openLocal(known))
			}
			if len(bad) > wrong {
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

// openLocal opens a policy's space on the fallback.
func (l *Limiter) openLocal(p *policy) error {
	if l.fallback == nil {
		return &ConfigError{Field: "OnFailure", Reason: "FailLocal needs a Fallback"}
	}
	limits := make([]Limit, len(p.space.Limits))
	for i, limit := range p.space.Limits {
		limits[i] = limit.part(l.share)
	}
	p.local = NewSpace(p.Name, limits...)
	var bad problems
	bad.under("Fallback: ", asMost(l.fallback.Open(p.local)))
	return bad.join()
}

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
