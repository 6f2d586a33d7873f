// Package storetest is the suite that every store of package ratelimit must pass.
//
// A store passes when it answers exactly as the contract says, to the
// microsecond: in traces with known answers, in random ones against a model in
// integers of any size, at both sides of every boundary, and under concurrent
// callers. A test of a store calls [Run]:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Harness{
//			Name: "mine",
//			Open: func(t testing.TB, now func() time.Time) ratelimit.Store { return mystore.New(now) },
//		})
//	}
//
// [Harness] says how much is tried. A failure prints the seed and the shortest trace
// found that still fails.
package storetest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Harness says how to make the store under test, what it leaves out, and how much
// is tried. Name and Open are required.
type Harness struct {
	Name string

	// Open returns a fresh, empty store that reads the time from now and from
	// nowhere else; now is safe for concurrent use, may step back, and may jump by
	// centuries. Open is called thousands of times, so it should be cheap. What it
	// leaves to t.Cleanup is done before the next call, at the latest with the test.
	Open func(t testing.TB, now func() time.Time) ratelimit.Store

	// MaxLogQuota is the largest quota of a sliding log or lease that the store
	// holds, and how many entries of different instants. 0 means 100,000.
	MaxLogQuota int64

	Lacks Lacks

	Steps int    // random steps a family of limits; 0 means 12,800
	Seed  uint64 // of the random traces; 0 means 1
}

// Lacks says what a store leaves out. The suite logs the tests that are left out
// because of it.
type Lacks struct {
	Algorithms  []ratelimit.Algorithm // that Open refuses
	Leases      bool
	Penalties   bool // Strike
	Spills      bool // Spill
	AcrossSlots bool // one Take of different keys, as on a cluster; of one key in several spaces it can
}

func (h Harness) logQuota() int64 {
	return cmp.Or(h.MaxLogQuota, 100_000)
}

func (h Harness) steps() int { return cmp.Or(h.Steps, 12_800) }

func (h Harness) seed() uint64 { return cmp.Or(h.Seed, 1) }

func (h Harness) has(a ratelimit.Algorithm) bool { return !slices.Contains(h.Lacks.Algorithms, a) }

// algorithms returns those that the store has.
func (h Harness) algorithms() []ratelimit.Algorithm {
	all := make([]ratelimit.Algorithm, 0, ratelimit.SlidingCounter+1)
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		if h.has(a) {
			all = append(all, a)
		}
	}
	return all
}

// check is one test. It fails through its testing.TB, so that it can be shown to
// fail on a store that is wrong.
type check struct {
	group, name string
	algorithms  []ratelimit.Algorithm // that it needs
	lacking     string                // what it needs and the store lacks, in words; "" where there is nothing
	run         func(t testing.TB, h Harness)
}

// leftOut returns what the store lacks for a check, in words, or "".
func (c check) leftOut(h Harness) string {
	for _, a := range c.algorithms {
		if !h.has(a) {
			return a.String()
		}
	}
	return c.lacking
}

// checks returns all checks, in the order in which they run.
func checks(h Harness) []check {
	return slices.Concat(vectorChecks(), numberChecks(), chargeChecks(h), clockChecks(), adjustChecks(h), keyChecks(),
		penaltyChecks(h), mistakeChecks(h), concurrentChecks(h), randomChecks(h))
}

// Run tests a store, a subtest for each thing that it must hold.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Name == "" || h.Open == nil {
		t.Fatal("storetest: a Harness needs Name and Open")
	}
	groups := map[string][]check{}
	var order []string
	var out []string
	for _, c := range checks(h) {
		if why := c.leftOut(h); why != "" {
			out = append(out, c.group+"/"+c.name+": no "+why)
			continue
		}
		if groups[c.group] == nil {
			order = append(order, c.group)
		}
		groups[c.group] = append(groups[c.group], c)
	}
	if out != nil {
		t.Logf("%s: left out:\n\t%s", h.Name, strings.Join(out, "\n\t"))
	}
	for _, group := range order {
		t.Run(group, func(t *testing.T) {
			for _, c := range groups[group] {
				t.Run(c.name, func(t *testing.T) { c.run(t, h) })
			}
		})
	}
}

// unless returns a word where the store lacks what it stands for.
func unless(lacks bool, word string) string {
	if lacks {
		return word
	}
	return ""
}
