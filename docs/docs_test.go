// Package docs_test holds the documents to the code: what they quote compiles, what
// they link to is there, and the layering that they promise is kept.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func glob(t *testing.T, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil || matches == nil {
			t.Fatalf("%s: no such file, %v", pattern, err)
		}
		files = append(files, matches...)
	}
	return files
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestCode finds each Go block of the documents, line by line, in a file of this
// package, where it is compiled and run. Indentation and blank lines do not count.
func TestCode(t *testing.T) {
	var compiled []string
	for _, file := range glob(t, "*_test.go") {
		compiled = append(compiled, squeeze(read(t, file)))
	}
	for _, file := range glob(t, "../*.md", "*.md") {
		for _, block := range goBlock.FindAllStringSubmatch(read(t, file), -1) {
			if !containedIn(compiled, squeeze(block[1])) {
				t.Errorf("%s: no file of this package has this code:\n%s", file, block[1])
			}
		}
	}
}

// squeeze drops indentation and blank lines, and puts a newline around each line.
func squeeze(code string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func containedIn(texts []string, part string) bool {
	for _, text := range texts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

func TestSqueeze(t *testing.T) {
	text := squeeze("func f() {\n\tif x {\n\t\ty()\n\n\t\tz()\n\t}\n}\n")
	for part, want := range map[string]bool{
		"y()\nz()\n": true, "if x {\n\ty()\n": true, "z()\ny()\n": false, "x {\n": false, "y()\nz(1)\n": false,
	} {
		if got := containedIn([]string{text}, squeeze(part)); got != want {
			t.Errorf("%q found: %t, want %t", part, got, want)
		}
	}
}

// TestCodes finds a section of codes.md for each code, where its URL points.
func TestCodes(t *testing.T) {
	declared := regexp.MustCompile(`\bCode = "(\w+)"`)
	page := read(t, "codes.md")
	n := 0
	for _, file := range glob(t, "../core/*.go") {
		for _, match := range declared.FindAllStringSubmatch(read(t, file), -1) {
			n++
			code := ratelimit.Code(match[1])
			address, anchor, _ := strings.Cut(code.URL(), "#")
			if !strings.HasSuffix(address, "/docs/codes.md") {
				t.Errorf("%s: its URL is %s, not this page's", code, address)
			}
			if !strings.Contains(page, `<a id="`+anchor+`"></a>`) || !strings.Contains(page, "\n## "+string(code)+": ") {
				t.Errorf("%s: codes.md has no section with the anchor %s", code, anchor)
			}
		}
	}
	if n == 0 {
		t.Error("no code is declared in the core")
	}
}

// TestLinks follows the documents' links to files of this repository.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, file := range glob(t, "../*.md", "*.md") {
		for _, match := range link.FindAllStringSubmatch(read(t, file), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), match[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestDependencies finds a line of design.md for each module that is required.
func TestDependencies(t *testing.T) {
	required := regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) v\d\S*$`)
	page := read(t, "design.md")
	for _, match := range required.FindAllStringSubmatch(read(t, "../go.mod"), -1) {
		if !strings.Contains(page, "\n| "+match[1]+" | ") {
			t.Errorf("design.md does not say what %s is for", match[1])
		}
	}
}
