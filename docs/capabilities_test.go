package docs_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
)

// capabilities are the constants that the adapters' suites name.
var capabilities = map[string]adaptertest.Capability{
	"EarlyHints": adaptertest.EarlyHints, "Hijack": adaptertest.Hijack, "HangUp": adaptertest.HangUp,
	"HTTP2": adaptertest.HTTP2, "HandErrors": adaptertest.HandErrors, "CountSlashes": adaptertest.CountSlashes,
}

// TestCannot finds a row of the README's table for each thing that a suite leaves
// out, and no row besides.
func TestCannot(t *testing.T) {
	left := regexp.MustCompile(`adaptertest\.(\w+):\s+"(.+?)"`)
	var want []string
	for _, file := range glob(t, "../adapters/*/suite_test.go") {
		framework := filepath.Base(filepath.Dir(file))
		if framework == "nethttp" {
			framework = "net/http"
		}
		for _, match := range left.FindAllStringSubmatch(read(t, file), -1) {
			want = append(want, fmt.Sprintf("%s cannot %s: %s", framework, capabilities[match[1]], match[2]))
		}
	}

	_, table, _ := strings.Cut(read(t, "../README.md"), "\n| framework | cannot | because |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cells) != 3 {
			t.Fatalf("a row of %d cells: %s", len(cells), row)
		}
		for framework := range strings.SplitSeq(cells[0], ", ") {
			got = append(got, fmt.Sprintf("%s cannot %s: %s", framework, cells[1], cells[2]))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("README:\n%s\nsuites:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
