package storetest

import (
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// randomChecks play random traces on the model and on the store, a check a family
// of limits.
func randomChecks(h Harness) []check {
	var out []check
	random := func(f family, lacking string, needs ...ratelimit.Algorithm) {
		out = append(out, check{"random traces agree with the model", f.name, needs, lacking, func(t testing.TB, h Harness) { playRandom(t, h, f) }})
	}
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		random(family{name: a.String(), algorithms: []ratelimit.Algorithm{a}, spaces: 2}, "", a)
	}
	log := []ratelimit.Algorithm{ratelimit.SlidingLog}
	random(family{name: "leases", algorithms: log, spaces: 2, lease: true}, unless(h.Lacks.Leases, "leases"))
	random(family{name: "several limits", algorithms: h.algorithms(), spaces: 4}, "")
	random(family{name: "penalties", algorithms: h.algorithms(), spaces: 2, penalty: true}, unless(h.Lacks.Penalties, "penalties"))
	return out
}

func playRandom(t testing.TB, h Harness, f family) {
	t.Helper()
	t.Logf("seed %d, %d steps", h.seed(), h.steps())
	for n := range uint64(max(1, h.steps()/traceSize)) {
		tr := generate(h, f, n)
		if tr.play(t, h) == nil {
			continue
		}
		tr.shrink(t, h)
		t.Fatalf("seed %d, trace %d, cut down to %d steps:\n%s\t%v", h.seed(), n, len(tr.steps), tr, tr.play(t, h))
	}
}
