package storetest

import (
	"fmt"
	"math/rand/v2"

	ratelimit "github.com/weirhq/ratelimit/core"
)

const (
	maxTime      = 1<<53 - 1
	twoCenturies = 200 * 365 * 24 * 3600 * 1_000_000 // 200 years in µs
	minBack      = 60_000_000                        // how far a clock may step back whatever the window
	maxLevel     = 1<<32 - 1                         // units that a level reaches, debt included
	traceSize    = 128                               // steps in a random trace
)

// family is what a random trace is about.
type family struct {
	name       string
	algorithms []ratelimit.Algorithm
	spaces     int // how many limits at most
	lease      bool
	penalty    bool
}

// generator makes a random trace. It plays each step on the model as it goes, so
// that the next one can lie at the edge of what the model answered.
type generator struct {
	*rand.Rand
	h     Harness
	f     family
	stage *stage
	trace *trace

	limits  []ratelimit.Limit // in force, one a space
	patient bool              // some charges are reservations
	keys    map[string]int    // how often a key was given up for a new one
	edges   []int64           // instants at which an answer changes
	given   []given           // charges that may be adjusted
}

// given is a charge that was made.
type given struct {
	slot   slot
	charge ratelimit.Charge
	units  int64
}

// generate makes the n-th trace of a family.
func generate(h Harness, f family, n uint64) *trace {
	g := &generator{Rand: rand.New(rand.NewPCG(h.seed(), n)), h: h, f: f, stage: newStage(h), keys: map[string]int{}}
	g.trace = &trace{}
	for i := range 1 + g.IntN(f.spaces) {
		g.addSpace(i)
	}
	if f.penalty {
		g.trace.spaces = append(g.trace.spaces, ratelimit.NewPenaltySpace("penalty", g.penalty()))
	}
	if err := g.stage.open(g.trace.spaces); err != nil {
		panic("storetest: the model failed: " + err.Error())
	}
	g.patient = g.IntN(3) == 0
	g.stage.clock.Set(g.start())
	for id := range traceSize {
		g.step(id)
	}
	return g.trace
}

func (g *generator) addSpace(i int) {
	algorithm := g.f.algorithms[g.IntN(len(g.f.algorithms))]
	window := g.window()
	limits := make([]ratelimit.Limit, 0, 4)
	for range 1 + g.IntN(4) {
		limits = append(limits, g.limit(algorithm, window, limits))
	}
	policy := fmt.Sprintf("limit%d", i)
	space := ratelimit.NewSpace(policy, limits...)
	if g.f.lease {
		space = ratelimit.NewLeaseSpace(policy, limits[0])
		space.Limits = limits
	}
	g.trace.spaces = append(g.trace.spaces, space)
	g.limits = append(g.limits, limits[0])
}

// step adds one step to the trace.
func (g *generator) step(id int) {
	if g.IntN(24) == 0 {
		i := g.IntN(len(g.limits))
		known := g.trace.spaces[i].Limits
		g.limits[i] = known[g.IntN(len(known))]
	}
	st := step{at: g.instant(), id: id}
	if g.IntN(7) == 0 {
		g.adjustment(&st)
	} else {
		g.charges(&st)
	}
	results, err := g.stage.step(st)
	if err != nil {
		panic("storetest: the model failed: " + err.Error())
	}
	g.trace.steps = append(g.trace.steps, st)
	g.learn(st, results)
}

// learn keeps what later steps refer to.
func (g *generator) learn(st step, results []ratelimit.Result) {
	g.edges = g.edges[:0]
	for i, r := range results {
		for _, wait := range []int64{micros(r.RetryAfter), micros(r.NextAfter), micros(r.ResetAfter), micros(r.Delay)} {
			if wait > 0 {
				g.edges = append(g.edges, st.at+wait)
			}
		}
		if st.charges != nil && r.Receipt.Units > 0 {
			g.given = append(g.given, given{slot{st.id, i}, st.charges[i], r.Receipt.Units})
		}
	}
}

// charges makes a Take.
func (g *generator) charges(st *step) {
	shared := "a" // the key of all charges, where they must share a slot
	if g.IntN(4) == 0 {
		shared = "b"
	}
	for range 1 + max(0, g.IntN(6)-3) {
		c := g.charge(st.at, shared)
		st.charges = append(st.charges, c)
		if c.Mode != ratelimit.Enforce || g.h.Lacks.Spills || g.IntN(8) > 0 {
			continue
		}
		d := g.charge(st.at, shared)
		if (d.Space != c.Space || string(d.Key) != string(c.Key)) && !g.stage.ahead(c, st.at) && !g.stage.ahead(d, st.at) {
			d.Mode, d.MaxDelay = ratelimit.Spill, 0
			st.charges = append(st.charges, d)
		}
	}
	if g.f.penalty && g.IntN(4) > 0 {
		space := g.trace.spaces[len(g.trace.spaces)-1]
		strike := ratelimit.Charge{Space: space, Key: g.key(shared, st.at), Mode: ratelimit.Strike, Cost: min(1, int64(g.IntN(8)))}
		i := g.IntN(2) * len(st.charges)
		st.charges = append(st.charges[:i:i], append([]ratelimit.Charge{strike}, st.charges[i:]...)...)
	}
}

func (g *generator) charge(at int64, shared string) ratelimit.Charge {
	i := g.IntN(len(g.limits))
	space, limit := g.trace.spaces[i], g.limits[i]
	if !g.h.Lacks.AcrossSlots && g.IntN(3) == 0 {
		shared = "c"
	}
	c := ratelimit.Charge{Space: space, Key: g.key(shared, at), Limit: limit, Mode: ratelimit.Enforce}
	switch g.IntN(10) {
	case 0:
		c.Mode = ratelimit.Observe
	case 1:
		c.Mode = ratelimit.Force
	}
	c.Cost = g.cost(c, at)
	if reserves := limit.Algorithm == ratelimit.TokenBucket || limit.Algorithm == ratelimit.GCRA; reserves && g.patient && g.IntN(2) == 0 {
		c.MaxDelay = g.maxDelay(limit)
	}
	return c
}

// adjustment makes an Adjust.
func (g *generator) adjustment(st *step) {
	i := g.IntN(len(g.limits))
	space := g.trace.spaces[i]
	a := ratelimit.Adjustment{Op: ratelimit.Extra, Space: space, Key: g.key("a", st.at), Limit: g.limits[i]}
	switch kind := g.IntN(16); {
	case kind == 0:
		a.Op = ratelimit.Reset
		if g.f.penalty && g.IntN(2) == 0 {
			a.Space = g.trace.spaces[len(g.trace.spaces)-1]
		}
	case kind < 5 || len(g.given) == 0:
		a.Units = g.cost(ratelimit.Charge{Space: space, Key: a.Key, Limit: a.Limit}, st.at)
	default:
		back := g.given[max(g.IntN(len(g.given)), g.IntN(len(g.given)))] // rather a late one
		a.Op, a.Space, a.Key, a.Limit = ratelimit.Refund, back.charge.Space, back.charge.Key, back.charge.Limit
		a.Units = []int64{back.units, back.units, 1, 0, 1 + g.Int64N(back.units), back.units + 1}[g.IntN(6)]
		if g.f.lease && g.IntN(2) == 0 {
			a.Op = ratelimit.Renew
		}
		st.of = &back.slot
		st.at = g.certain(a.Space, a.Key, st.at)
	}
	st.adjust = a
}

// key returns a key, the same in every space. Where it is up to a store what it
// remembers of it, the key is given up for a new one.
func (g *generator) key(base string, at int64) []byte {
	key := fmt.Appendf(nil, "%s%d", base, g.keys[base])
	for _, space := range g.trace.spaces {
		if g.stage.vague(space, key, at) {
			g.keys[base]++
			return g.key(base, at)
		}
	}
	return key
}

// certain returns the instant, or a later one at which it is certain what a store
// remembers of the key.
func (g *generator) certain(space *ratelimit.Space, key []byte, at int64) int64 {
	if g.stage.vague(space, key, at) {
		return g.stage.high
	}
	return at
}
