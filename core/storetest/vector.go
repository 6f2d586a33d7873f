package storetest

import (
	"bytes"
	"embed"
	"fmt"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/internal/clock"
	"github.com/weirhq/ratelimit/core/storetest/internal/vectors"
)

//go:embed testdata/*.jsonl
var testdata embed.FS

// vectorChecks play the traces with known answers, step by step.
func vectorChecks() []check {
	const group = "known answers"
	var out []check
	for a := ratelimit.TokenBucket; a <= ratelimit.SlidingCounter; a++ {
		out = append(out, check{group, a.String(), []ratelimit.Algorithm{a}, "", func(t testing.TB, h Harness) {
			playVectors(t, h, "decisions", `"algorithm":"`+a.String()+`"`)
		}})
	}
	return append(out, check{group, "several limits", nil, "", func(t testing.TB, h Harness) {
		playVectors(t, h, "layers", "")
	}})
}

// playVectors plays the traces of a file whose line holds a text.
func playVectors(t testing.TB, h Harness, file, text string) {
	t.Helper()
	lines, err := testdata.ReadFile("testdata/" + file + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	played, steps, n := 0, 0, 0
	for line := range bytes.Lines(lines) {
		n++
		if !bytes.Contains(line, []byte(text)) {
			continue
		}
		tr, err := vectors.Parse(line)
		if err != nil {
			t.Fatalf("%s.jsonl:%d: %v", file, n, err)
		}
		if why := h.cannot(tr); why != "" {
			t.Logf("%q left out: %s", tr.Name, why)
			continue
		}
		played++
		steps += len(tr.Steps)
		playVector(t, h, tr, fmt.Sprintf("%s-%d", file, n))
	}
	if played == 0 {
		t.Errorf("no trace of %s.jsonl is for the store", file)
	}
	t.Logf("%d traces, %d steps", played, steps)
}

// cannot returns why a store does not hold the limits of a trace, or "".
func (h Harness) cannot(tr *vectors.Trace) string {
	for _, layer := range tr.Layers {
		for _, l := range layer.Known {
			switch {
			case !h.has(l.Algorithm):
				return "no " + l.Algorithm.String()
			case l.Algorithm == ratelimit.SlidingLog && l.Quota > h.logQuota():
				return "a log above the store's largest quota"
			}
		}
	}
	return ""
}

func playVector(t testing.TB, h Harness, tr *vectors.Trace, key string) {
	t.Helper()
	scope := &scope{TB: t}
	defer scope.close()
	c := &clock.Clock{}
	c.Set(tr.Start())
	bad, err := tr.Play(h.Open(scope, c.Now), c, key)
	if err != nil {
		t.Fatal(err)
	}
	if len(bad) > 0 {
		t.Fatalf("%d of %d steps differ, the first:\n%v", len(bad), len(tr.Steps), bad[0])
	}
}
