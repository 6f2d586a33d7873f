package denycache

import (
	"context"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const usualCharges = 8 // a Take of up to so many does not allocate

// Take implements [ratelimit.Store].
//
// It remembers each Enforce charge that did not fit whatever else the Take asked for:
// with a Cost, on a key that stands in the Take once, without a Spill, and not a
// lease. A later Take that holds such a charge again, with the same Limit, Cost and
// MaxDelay, is denied without asking the store. A Take with a Strike is always asked,
// since its denials count, unless the key of the Strike is banned: then nothing
// counts, and the ban is what is remembered.
//
// In a Take that is denied so, the result of each charge that is remembered has
// Allowed false, the waits as far as they are left (at least 0), Now moved on by the
// same, and Used and Remaining as they were when the store was asked. All other
// results are zero but for Allowed, which is true: a Now of 0 says that they were not asked.
//
// A denial is forgotten once its RetryAfter or MaxAge is over, when the key is asked for
// under another limit, and when it is charged or adjusted through this Store, by calls
// under way too. Errors of the other store are returned as they are.
func (s *Store) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if err := ratelimit.CheckTake(charges, results); err != nil {
		return err
	}
	if n := len(charges); n <= usualCharges {
		var claims [usualCharges]claim
		return s.take(ctx, charges, results, claims[:n])
	}
	return s.take(ctx, charges, results, make([]claim, len(charges)))
}

// claim is a charge of a Take under way.
type claim struct {
	key        fingerprint
	generation uint64 // of the key's, before the store was asked
	lasting    bool   // a denial of the charge holds for the same charge in other Takes
	hit        bool
}

func (s *Store) take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result, claims []claim) error {
	s.claim(charges, claims)
	now := s.clock.micros()
	var first *shard
	for i := range charges {
		if charges[i].Space.Lease {
			continue
		}
		if sh := s.shard(claims[i].key); sh.look(&charges[i], &claims[i], now, &results[i]) && first == nil {
			first = sh
		}
	}
	if first != nil {
		first.hits.Add(1)
		for i := range claims {
			if !claims[i].hit {
				results[i] = ratelimit.Result{Allowed: true}
			}
		}
		return nil
	}

	err := s.store.Take(ctx, charges, results)
	for i := range charges {
		c, k, r := &charges[i], &claims[i], &results[i]
		switch {
		case c.Space.Lease:
		case err != nil || r.Receipt.Units > 0: // one that failed may have charged
			s.forget(k.key)
		case k.lasting && !r.Allowed:
			s.remember(c, k, r, now)
		}
	}
	return err
}

// claim finds out what the charges' keys are, and which denials would last.
func (s *Store) claim(charges []ratelimit.Charge, claims []claim) {
	strikes := false
	for i := range charges {
		c, k := &charges[i], &claims[i]
		strikes = strikes || c.Mode == ratelimit.Strike
		if c.Mode == ratelimit.Spill {
			claims[i-1].lasting = false
		}
		if c.Space.Lease {
			continue
		}
		k.key = s.seeds.of(c.Space.Prefix, c.Key)
		k.lasting = c.Cost > 0 && (c.Mode == ratelimit.Strike || c.Mode == ratelimit.Enforce)
		for j := range i {
			if claims[j].key == k.key && c.Mode != ratelimit.Strike { // bans hold however often they are asked for
				claims[j].lasting, k.lasting = false, false
			}
		}
	}
	if strikes {
		for i := range charges {
			claims[i].lasting = claims[i].lasting && charges[i].Mode == ratelimit.Strike
		}
	}
}

// look tells a charge's denial, if there is one in force, and reports whether there
// is. A denial under another limit ends here.
func (sh *shard) look(c *ratelimit.Charge, k *claim, now int64, r *ratelimit.Result) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k.generation = *sh.generation(k.key)
	d := sh.find(k.key, now)
	if d == nil {
		return false
	}
	want := askOf(c)
	if d.ask.limit != want.limit {
		sh.drop(k.key)
		return false
	}
	if k.hit = k.lasting && d.ask == want; k.hit {
		d.tell(now, r)
	}
	return k.hit
}

// remember keeps what a store told of a charge that it denied, unless the key was
// touched since it was asked, or the clock stepped back.
func (s *Store) remember(c *ratelimit.Charge, k *claim, r *ratelimit.Result, asked int64) {
	answered := s.clock.micros()
	d := denial{
		key: k.key, ask: askOf(c), result: *r,
		asked: asked - s.clock.slack, answered: answered + s.clock.slack,
	}
	d.end = d.asked + min(r.RetryAfter.Microseconds(), s.maxAge)
	if d.over(answered) {
		return
	}
	sh := s.shard(k.key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if *sh.generation(k.key) == k.generation {
		sh.put(&d, answered)
	}
}
