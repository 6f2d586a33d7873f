package denycache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

// pair plays the same on a memory store with a cache and on one without, on one clock.
type pair struct {
	*lab
	*rand.Rand
	bare     *ratelimit.Memory
	spaces   []*ratelimit.Space
	bans     *ratelimit.Space
	last     charges                // asked for, which callers do again
	receipts []ratelimit.Adjustment // of charges that can be given back
	edges    []time.Duration        // waits told last
	back     time.Duration          // how far the clock stepped back, in all
	hits     int64
}

func newPair(t *testing.T, seed uint64) *pair {
	p := &pair{Rand: rand.New(rand.NewPCG(seed, 0))}
	p.lab = newLab(t, denycache.Config{MaxAge: []time.Duration{0, us, 10 * time.Second, time.Hour}[p.IntN(4)]})
	p.bare = ratelimit.NewMemory(ratelimit.MemoryConfig{Now: p.clock.Now})
	for i := range 1 + p.IntN(4) {
		a := ratelimit.Algorithm(p.IntN(6))
		window := []time.Duration{time.Second, 7 * time.Second, time.Minute, time.Hour}[p.IntN(4)]
		limit := func() ratelimit.Limit {
			l := ratelimit.Per(1+p.Int64N(12), window).Using(a)
			if a <= ratelimit.LeakyBucket && p.IntN(2) == 0 {
				l.Burst = 1 + p.Int64N(12)
			}
			return l
		}
		if p.IntN(8) == 0 {
			p.both(ratelimit.NewLeaseSpace("leases", ratelimit.Per(3, window).Using(ratelimit.SlidingLog)))
		} else {
			p.both(ratelimit.NewSpace(fmt.Sprint("policy", i), limit(), limit()))
		}
	}
	p.bans = ratelimit.NewPenaltySpace("bans", ratelimit.Penalty{Denials: 1 + p.Int64N(4), Within: time.Minute, Ban: 20 * time.Second, Factor: 2})
	p.both(p.bans)
	p.spaces = p.spaces[:len(p.spaces)-1]
	return p
}

func (p *pair) both(s *ratelimit.Space) {
	p.open(s)
	if err := p.bare.Open(s); err != nil {
		p.Fatal(err)
	}
	p.spaces = append(p.spaces, s)
}

// charge returns a random charge.
func (p *pair) charge() ratelimit.Charge {
	s := p.spaces[p.IntN(len(p.spaces))]
	c := on(s, []int64{1, 1, 2, 3, 0, s.Limits[0].Capacity(), 13}[p.IntN(7)])
	c.Key = []byte{'a' + byte(p.IntN(2))}
	if p.IntN(16) == 0 {
		c.Limit = s.Limits[len(s.Limits)-1]
	}
	switch p.IntN(12) {
	case 0:
		c.Mode = ratelimit.Observe
	case 1:
		c.Mode = ratelimit.Force
	}
	if c.Limit.Algorithm <= ratelimit.GCRA && p.IntN(4) == 0 {
		c.MaxDelay = c.Limit.Window / 8
	}
	return c
}

func (p *pair) charges() (out charges) {
	if p.last != nil && p.IntN(2) == 0 {
		return p.last
	}
	defer func() { p.last = out }()
	for range 1 + max(0, p.IntN(5)-2) {
		out = append(out, p.charge())
		if last := out[len(out)-1]; last.Mode == ratelimit.Enforce && p.IntN(10) == 0 {
			out = append(out, mode(p.charge(), ratelimit.Spill))
		}
	}
	if p.IntN(5) == 0 {
		strike := on(p.bans, min(1, p.Int64N(6)))
		strike.Key = []byte{'a' + byte(p.IntN(2))}
		out = append(out, strike)
	}
	return out
}

// move moves the clock: seldom back, and never further than stores remember for sure.
func (p *pair) move() {
	switch n := p.IntN(24); {
	case n == 0 && p.back < 50*time.Second:
		d := time.Duration(1+p.IntN(3_000_000)) * us
		p.back += d
		p.clock.Advance(-d)
	case n < 6 && len(p.edges) > 0:
		p.clock.Advance(max(0, p.edges[p.IntN(len(p.edges))]-time.Duration(p.IntN(2))*us))
	case n < 9:
		p.clock.Advance(time.Duration(p.IntN(2_000_000)) * us)
	case n < 10:
		p.clock.Advance(time.Duration(p.IntN(60_000)) * time.Millisecond)
	}
}

func (p *pair) step() error {
	p.move()
	if p.IntN(10) == 0 {
		return p.correct()
	}
	c := p.charges()
	want, got := make([]ratelimit.Result, len(c)), make([]ratelimit.Result, len(c))
	if err := p.bare.Take(context.Background(), c, want); err != nil {
		return err
	}
	if err := p.cache.Take(context.Background(), c, got); err != nil {
		return err
	}
	p.edges = p.edges[:0]
	for i, r := range want {
		if r.RetryAfter < time.Hour {
			p.edges = append(p.edges, r.RetryAfter)
		}
		if r.Receipt.Units > 0 {
			p.receipts = append(p.receipts, ratelimit.Adjustment{
				Space: c[i].Space, Key: c[i].Key, Limit: c[i].Limit, Units: r.Receipt.Units, Receipt: r.Receipt,
			})
		}
	}
	hit := p.cache.Stats().Hits > p.hits
	if !hit {
		if !slices.Equal(want, got) {
			return fmt.Errorf("%+v\nasked, got %+v\nwant       %+v", c, got, want)
		}
		return nil
	}
	p.hits++
	denies := false
	for i := range got {
		if got[i] == (ratelimit.Result{Allowed: true}) {
			continue
		}
		denies = denies || !got[i].Allowed && (c[i].Mode == ratelimit.Enforce || c[i].Mode == ratelimit.Strike)
		was := got[i]
		was.Used, was.Remaining = want[i].Used, want[i].Remaining
		if was.NextAfter == 0 { // and more may have come back since
			was.NextAfter = want[i].NextAfter
		}
		was.Receipt.End = want[i].Receipt.End // says nothing where nothing was charged
		if was != want[i] {
			return fmt.Errorf("%+v\ncached, got %+v\nwant        %+v", c, got, want)
		}
	}
	if !denies {
		return fmt.Errorf("%+v\ncached, but admitted: %+v", c, got)
	}
	return nil
}

// correct makes a random correction.
func (p *pair) correct() error {
	c := p.charge()
	a := ratelimit.Adjustment{Op: ratelimit.Extra, Space: c.Space, Key: c.Key, Limit: c.Limit, Units: 1 + p.Int64N(3)}
	switch n := p.IntN(8); {
	case n == 0:
		a.Op = ratelimit.Reset
		if p.IntN(2) == 0 {
			a.Space = p.bans
		}
	case n < 6 && len(p.receipts) > 0:
		a = p.receipts[p.IntN(len(p.receipts))]
		a.Op, a.Units = ratelimit.Refund, 1+p.Int64N(a.Units)
		if a.Space.Lease && p.IntN(2) == 0 {
			a.Op = ratelimit.Renew
		}
	}
	want, got := []ratelimit.Adjustment{a}, []ratelimit.Adjustment{a}
	if err := p.bare.Adjust(context.Background(), want); err != nil {
		return err
	}
	if err := p.cache.Adjust(context.Background(), got); err != nil {
		return err
	}
	if want[0].Receipt != got[0].Receipt {
		return fmt.Errorf("receipt %+v, want %+v", got[0].Receipt, want[0].Receipt)
	}
	return nil
}

// TestCacheAgreesWithStore: whatever comes, each Take is admitted or denied as without
// the cache, and waits are the same to the microsecond.
func TestCacheAgreesWithStore(t *testing.T) {
	traces := uint64(500)
	if testing.Short() {
		traces = 100
	}
	var hits, takes int64
	for seed := range traces {
		p := newPair(t, seed)
		for n := range 200 {
			if err := p.step(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, n, err)
			}
		}
		hits += p.hits
		takes += p.asked.takes.Load() + p.hits
	}
	t.Logf("%d of %d Takes were answered by the cache", hits, takes)
	if hits < takes/10 {
		t.Errorf("%d of %d Takes were answered by the cache: too few to show anything", hits, takes)
	}
}
