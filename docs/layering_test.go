package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weirhq/ratelimit"

// foreign lists the modules that a leaf may use beside the standard library. What
// is not here uses none, so that an app gets only what it imports.
var foreign = map[string][]string{
	"adapters/chi":   {"github.com/go-chi/chi/v5"},
	"adapters/gin":   {"github.com/gin-gonic/gin"},
	"adapters/echo":  {"github.com/labstack/echo/v4"},
	"adapters/fiber": {"github.com/gofiber/fiber/v2"},

	"core/redisstore": {"github.com/redis/go-redis/v9"},
	"core/breaker":    {"github.com/sony/gobreaker/v2"},
}

// siblings lists the leaves that a leaf may import: chi's middlewares are net/http's,
// the suite for adapters is test code, and the command that replays traces plays them
// on Redis too.
var siblings = map[string][]string{
	"core/storetest/replay": {"core/redisstore"},
	"adapters/chi":          {"adapters/nethttp"},
	"adapters/adaptertest":  {"core/limittest", "keyfuncs"},
}

// suites are for tests alone: an app's or ours.
var suites = []string{"adapters/adaptertest", "core/storetest", "core/limittest"}

// violation says which rule an import breaks, or "". The importer is a package's
// path within the module, the import is as written.
func violation(importer, imported string) string {
	from := leaf(importer)
	inner, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		first, _, _ := strings.Cut(imported, "/")
		std := !strings.Contains(first, ".")
		uses := func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }
		switch {
		case std || from == "examples" || slices.ContainsFunc(foreign[from], uses):
			return ""
		case from == "core":
			return "the core imports the standard library only"
		default:
			return "a leaf uses only the modules that are listed for it"
		}
	}
	to := leaf(inner)
	switch {
	case to == from || slices.Contains(siblings[from], to) || slices.Contains(siblings[importer], to):
		return ""
	case to == "adapters/internal" && strings.HasPrefix(from, "adapters/"):
		return "" // what adapters share
	case from == "core":
		return "the core imports no leaf"
	case slices.Contains(suites, to):
		return "only tests import a suite"
	case from == "examples":
		return ""
	case to != "core":
		return "no leaf imports another leaf"
	case inner != "core":
		return "a leaf uses the core by its public package"
	default:
		return ""
	}
}

// leaf returns what a package belongs to: the core with its internal packages, or
// one of the leaves around it.
func leaf(pkg string) string {
	parts := strings.Split(pkg, "/")
	switch {
	case parts[0] == "core" && len(parts) > 1 && parts[1] != "internal", parts[0] == "adapters" && len(parts) > 1:
		return parts[0] + "/" + parts[1]
	default:
		return parts[0]
	}
}

func TestViolation(t *testing.T) {
	ours := func(pkg string) string { return module + "/" + pkg }
	for _, c := range []struct{ importer, imported, want string }{
		{"core", "net/http", ""},
		{"core", ours("core/internal/algorithm"), ""},
		{"core/internal/algorithm", "math/bits", ""},
		{"core", "golang.org/x/time/rate", "the core imports the standard library only"},
		{"core/internal/algorithm", "golang.org/x/time/rate", "the core imports the standard library only"},
		{"core", ours("keyfuncs"), "the core imports no leaf"},
		{"core", ours("core/limittest"), "the core imports no leaf"},
		{"core/internal/algorithm", ours("core/storetest"), "the core imports no leaf"},

		{"core/storetest", ours("core"), ""},
		{"core/storetest/replay", ours("core/storetest/internal/vectors"), ""},
		{"core/storetest", ours("core/internal/algorithm"), "a leaf uses the core by its public package"},
		{"core/storetest", ours("keyfuncs"), "no leaf imports another leaf"},
		{"core/storetest", ours("core/redisstore"), "no leaf imports another leaf"},
		{"core/storetest/replay", ours("core/redisstore"), ""},
		{"core/redisstore", "github.com/redis/go-redis/v9", ""},
		{"core/redisstore", ours("core/breaker"), "no leaf imports another leaf"},
		{"core/breaker", ours("core/redisstore"), "no leaf imports another leaf"},

		{"keyfuncs", ours("core"), ""},
		{"keyfuncs", ours("core/limittest"), "only tests import a suite"},
		{"keyfuncs", ours("adapters/nethttp"), "no leaf imports another leaf"},
		{"keyfuncs", "github.com/realclientip/realclientip-go", "a leaf uses only the modules that are listed for it"},

		{"adapters/nethttp", ours("core"), ""},
		{"adapters/nethttp", ours("keyfuncs"), "no leaf imports another leaf"},
		{"adapters/nethttp", ours("adapters/chi"), "no leaf imports another leaf"},
		{"adapters/nethttp", "github.com/go-chi/chi/v5", "a leaf uses only the modules that are listed for it"},
		{"adapters/chi", ours("adapters/nethttp"), ""},
		{"adapters/chi", "github.com/go-chi/chi/v5/middleware", ""},
		{"adapters/chi", "github.com/go-chi/chi/v50", "a leaf uses only the modules that are listed for it"},
		{"adapters/nethttp", ours("adapters/internal/std"), ""},
		{"adapters/internal/std", ours("core"), ""},
		{"adapters/internal/std", ours("adapters/nethttp"), "no leaf imports another leaf"},
		{"keyfuncs", ours("adapters/internal/std"), "no leaf imports another leaf"},
		{"adapters/adaptertest", ours("core/limittest"), ""},
		{"adapters/nethttp", ours("adapters/adaptertest"), "only tests import a suite"},

		{"examples/chi", ours("keyfuncs"), ""},
		{"examples/chi", "github.com/go-chi/chi/v5", ""},
		{"examples/chi", ours("core/limittest"), "only tests import a suite"},
	} {
		if got := violation(c.importer, c.imported); got != c.want {
			t.Errorf("%s imports %s: %q, want %q", c.importer, c.imported, got, c.want)
		}
	}
}

// TestLayering holds the tree to the rules, whatever the build tags; test files may
// import what they like.
func TestLayering(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != ".." && outside(file, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file = strings.TrimPrefix(filepath.ToSlash(file), "../")
		importer := path.Dir(file)
		seen[leaf(importer)] = true
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rule := violation(importer, imported); rule != "" {
				t.Errorf("%s imports %s: %s", file, imported, rule)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(suites, "core", "keyfuncs", "adapters/nethttp", "adapters/chi", "adapters/gin", "adapters/echo", "adapters/fiber", "examples",
		"core/redisstore", "core/breaker", "core/denycache", "core/approx") {
		if !seen[want] {
			t.Errorf("no source file of %s was seen", want)
		}
	}
}

// outside reports whether a directory is not part of the module.
func outside(dir, name string) bool {
	if name == "testdata" || strings.HasPrefix(name, ".") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
