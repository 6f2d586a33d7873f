package keyfuncs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// text is a key function with one key; "" is none.
func text(s string) ratelimit.KeyFunc {
	return keyfuncs.Func(func(ratelimit.Request) string { return s })
}

var errBroken = errors.New("broken")

func broken(dst []byte, _ ratelimit.Request) ([]byte, error) { return dst, errBroken }

// wrapped has no key, and says more than that.
func wrapped(dst []byte, _ ratelimit.Request) ([]byte, error) {
	return dst, fmt.Errorf("no session: %w", ratelimit.ErrNoKey)
}

func TestKeys(t *testing.T) {
	secret := sha256.Sum256([]byte("s3cret"))
	hashed := hex.EncodeToString(secret[:])
	bearer, key := keyfuncs.APIKey("authorization"), keyfuncs.APIKey("x-api-key")
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		line string
		want string
	}{
		{"func", text("a"), "", "a"},
		{"func without", text(""), "", none},
		{"header in another case", keyfuncs.Header("x-tENANT"), "X-Tenant: acme", "acme"},
		{"header empty", keyfuncs.Header("X-Tenant"), "X-Tenant: ", none},
		{"header missing", keyfuncs.Header("X-Tenant"), "", none},
		{"route missing", keyfuncs.Route, "", none},

		{"bearer", bearer, "Authorization: Bearer s3cret", hashed},
		{"bearer in lower case, more white space", bearer, "Authorization: bearer   s3cret", hashed},
		{"bearer without token", bearer, "Authorization: Bearer ", none},
		{"bearer alone", bearer, "Authorization: Bearer", none},
		{"no scheme", bearer, "Authorization: s3cret", none},
		{"another scheme", bearer, "Authorization: Basic s3cret", none},
		{"API key", key, "X-Api-Key: s3cret", hashed},
		{"API key missing", key, "", none},
		{"API key empty", key, "X-Api-Key: ", none},
		{"hash", keyfuncs.Hash(text("s3cret")), "", hashed},
		{"hash without", keyfuncs.Hash(text("")), "", none},
		{"hash of a broken one", keyfuncs.Hash(broken), "", "error: broken"},

		{"prefix", keyfuncs.Prefix("web", text("a:b")), "", "web:a:b"},
		{"prefix of a prefix", keyfuncs.Prefix("web", keyfuncs.Prefix("v1", text("a"))), "", "web:v1:a"},
		{"prefix of none", keyfuncs.Prefix("web", text("")), "", none},
		{"prefix of a broken one", keyfuncs.Prefix("web", broken), "", "error: broken"},

		{"join of one", keyfuncs.Join(text("a")), "", "a"},
		{"join", keyfuncs.Join(text("a"), text("b"), text("c")), "", "a|b|c"},
		{"join escapes", keyfuncs.Join(text(`|a\`), text(`\||\`)), "", `\|a\\|\\\|\|\\`},
		{"join of joins", keyfuncs.Join(keyfuncs.Join(text("a"), text("b")), text("c")), "", `a\|b|c`},
		{"join lacks a part", keyfuncs.Join(text("a"), text("")), "", none},
		{"join lacks a part, wrapped", keyfuncs.Join(text("a"), wrapped), "", none},
		{"join with a broken part", keyfuncs.Join(text("a"), broken), "", "error: broken"},

		{"first", keyfuncs.First(text("a"), text("b")), "", "0:a"},
		{"second", keyfuncs.First(text(""), text("a")), "", "1:a"},
		{"third", keyfuncs.First(text(""), wrapped, text("a")), "", "2:a"},
		{"none of them", keyfuncs.First(text(""), wrapped), "", none},
		{"first is broken", keyfuncs.First(broken, text("a")), "", "error: broken"},
		{"second is broken", keyfuncs.First(text(""), broken, text("a")), "", "error: broken"},
	} {
		var lines []string
		if c.line != "" {
			lines = append(lines, c.line)
		}
		v := get("203.0.113.7:51514", lines...)
		if got := keyOf(c.key, v); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		// The key comes after what is there, whatever room there is.
		for _, room := range []int{0, 1, 5, 64, 500} {
			dst := append(make([]byte, 0, 7+room), "before:"...)
			got, err := c.key(dst, ratelimit.NewRequest(v))
			want := "before:"
			if err == nil {
				want += c.want
			}
			if string(got) != want || string(dst) != "before:" {
				t.Errorf("%s, room for %d: %q and dst %q, want %q", c.name, room, got, dst, want)
			}
		}
	}
}

// Key functions of the user's may treat dst as they like.
func TestUnrulyParts(t *testing.T) {
	own := []byte("|own|")
	for name, unruly := range map[string]ratelimit.KeyFunc{
		"its own slice": func([]byte, ratelimit.Request) ([]byte, error) { return own, nil },
		"a part of dst": func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, "xx|own|"...)[2:], nil },
		"scribbles over the rest": func(dst []byte, _ ratelimit.Request) ([]byte, error) {
			rest := dst[:cap(dst)]
			for i := range rest {
				rest[i] = '#'
			}
			return append(dst, "|own|"...), nil
		},
		"a shorter dst": func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst[:0], "|own|"...), nil },
	} {
		sum := sha256.Sum256(own)
		for _, room := range []int{0, 3, 9, 200} {
			for _, c := range []struct {
				key  ratelimit.KeyFunc
				want string
			}{
				{keyfuncs.Join(text("a"), unruly, unruly, text("b")), `before:a|\|own\||\|own\||b`},
				{keyfuncs.First(text(""), unruly), "before:1:|own|"},
				{keyfuncs.Prefix("a", unruly), "before:a:|own|"},
				{keyfuncs.Hash(unruly), "before:" + hex.EncodeToString(sum[:])},
			} {
				dst := append(make([]byte, 0, 7+room), "before:"...)
				got, err := c.key(dst, ratelimit.NewRequest(get("203.0.113.7:1")))
				if err != nil || string(got) != c.want {
					t.Errorf("%s, room for %d: %q, %v, want %q", name, room, got, err, c.want)
				}
			}
		}
	}
	nothing := func([]byte, ratelimit.Request) ([]byte, error) { return nil, nil }
	if got := keyOf(keyfuncs.Join(nothing, nothing), get("203.0.113.7:1")); got != "|" {
		t.Errorf("two empty keys join to %q, want |", got)
	}
	if string(own) != "|own|" {
		t.Errorf("the user's slice is now %q", own)
	}
}

func FuzzJoin(f *testing.F) {
	f.Add("aa", "b", "a", "ab")
	f.Add("a|", "b", "a", "|b")
	f.Add(`a\`, "|b", "a", `\|b`)
	f.Add("", "a", "a", "")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		literal := func(s string) ratelimit.KeyFunc {
			return func(dst []byte, _ ratelimit.Request) ([]byte, error) { return append(dst, s...), nil }
		}
		v := get("203.0.113.7:1")
		one, other := keyOf(keyfuncs.Join(literal(a), literal(b)), v), keyOf(keyfuncs.Join(literal(c), literal(d)), v)
		if (one == other) != (a == c && b == d) {
			t.Fatalf("(%q, %q) is %q, (%q, %q) is %q", a, b, one, c, d, other)
		}
	})
}

// A key stays as it is when the request's memory is used for the next one.
func TestKeysOutliveTheRequest(t *testing.T) {
	memory := []byte("198.51.100.99, 2001:db8::7")
	v := get("10.0.0.1:1")
	shared := unsafe.String(&memory[0], len(memory))
	v.request.Header["X-Forwarded-For"], v.request.Header["X-Device"] = []string{shared}, []string{shared}
	v.with(host(shared[:len("198.51.100.99")]), route(shared), pathValue("id", shared))
	header, trust := keyfuncs.Header("X-Forwarded-For"), keyfuncs.TrustProxies("10.0.0.0/8")
	for _, f := range []ratelimit.KeyFunc{
		header, keyfuncs.User(func(r ratelimit.Request) string { return r.Header("X-Forwarded-For") }),
		whole(trust), keyfuncs.Join(header, header), keyfuncs.First(header), keyfuncs.Hash(header), keyfuncs.APIKey("X-Forwarded-For"),
		keyfuncs.Prefix("web", header), keyfuncs.TrustedHeader("X-Device", trust),
		keyfuncs.Host, keyfuncs.Route, keyfuncs.PathValue("id"),
	} {
		copy(memory, "198.51.100.99, 2001:db8::7")
		key, err := f(nil, ratelimit.NewRequest(v))
		before := strings.Clone(string(key))
		copy(memory, strings.Repeat("#", len(memory)))
		if err != nil || string(key) != before {
			t.Errorf("%q became %q, %v", before, key, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for want, build := range map[string]func(){
		"ratelimit: keyfuncs.Func needs a function":                                                                        func() { keyfuncs.Func(nil) },
		"ratelimit: keyfuncs.User needs a function":                                                                        func() { keyfuncs.User(nil) },
		"ratelimit: keyfuncs.Tenant needs a function":                                                                      func() { keyfuncs.Tenant(nil) },
		`ratelimit: keyfuncs.Header needs the name of a header, has ""`:                                                    func() { keyfuncs.Header("") },
		`ratelimit: keyfuncs.APIKey needs the name of a header, has "X-Key:"`:                                              func() { keyfuncs.APIKey("X-Key:") },
		"ratelimit: keyfuncs.Hash needs a key function":                                                                    func() { keyfuncs.Hash(nil) },
		"ratelimit: keyfuncs.Join needs at least one key function":                                                         func() { keyfuncs.Join() },
		"ratelimit: keyfuncs.Join has no key function at position 1":                                                       func() { keyfuncs.Join(keyfuncs.Route, nil) },
		"ratelimit: keyfuncs.First needs at least one key function":                                                        func() { keyfuncs.First() },
		"ratelimit: keyfuncs.Prefix needs a text without \":\", has \"\"\nratelimit: keyfuncs.Prefix needs a key function": func() { keyfuncs.Prefix("", nil) },
		`ratelimit: keyfuncs.Prefix needs a text without ":", has "a:"`:                                                    func() { keyfuncs.Prefix("a:", keyfuncs.Route) },
		`ratelimit: keyfuncs.Cookie needs the name of a cookie, has "a=b"`:                                                 func() { keyfuncs.Cookie("a=b") },
		"ratelimit: keyfuncs.Query needs the name of a parameter":                                                          func() { keyfuncs.Query("") },
		"ratelimit: keyfuncs.PathValue needs the name of a parameter":                                                      func() { keyfuncs.PathValue("") },
	} {
		err := panicOf(t, build)
		var config *ratelimit.ConfigError
		if !errors.As(err, &config) || err.Error() != want {
			t.Errorf("panic with %v, want %s", err, want)
		}
	}
}
