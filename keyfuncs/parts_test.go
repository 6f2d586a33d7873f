package keyfuncs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// Keys that are a part of the request.
func TestParts(t *testing.T) {
	secret := sha256.Sum256([]byte("s3cret"))
	hashed := hex.EncodeToString(secret[:])
	cookie, page, id := keyfuncs.Cookie("session"), keyfuncs.Query("page"), keyfuncs.PathValue("id")
	line := func(s string) func(*http.Request) { return func(r *http.Request) { r.Header.Add("Cookie", s) } }
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		view *view
		want string
	}{
		{"cookie", cookie, with(line("session=s3cret")), hashed},
		{"cookie among others", cookie, with(line("theme=dark; session=s3cret; session=other")), hashed},
		{"cookie in a second line", cookie, with(line("theme=dark"), line("session=s3cret")), hashed},
		{"cookie in quotes", cookie, with(line(`session="s3cret"`)), hashed},
		{"cookie in another case", cookie, with(line("Session=s3cret")), none},
		{"cookie empty", cookie, with(line("session=")), none},
		{"cookie without value", cookie, with(line("session")), none},
		{"cookie missing", cookie, with(line("theme=dark")), none},
		{"no cookies", cookie, with(), none},

		{"query", page, with(query("q=1&page=7")), "7"},
		{"query, the first", page, with(query("page=7&page=8")), "7"},
		{"query, decoded", page, with(query("p%61ge=a%20b+c")), "a b c"},
		{"query in another case", page, with(query("Page=7")), none},
		{"query empty", page, with(query("page=")), none},
		{"query without value", page, with(query("page")), none},
		{"query undecodable", page, with(query("page=%zz")), none},
		{"query missing", page, with(query("q=1")), none},
		{"no query", page, with(), none},

		{"path value", id, with(pathValue("id", "42")), "42"},
		{"path value empty", id, with(pathValue("id", "")), none},
		{"path value missing", id, with(pathValue("name", "42")), none},

		{"method", keyfuncs.Method, with(method("PATCH")), "PATCH"},
		{"method by its letters", keyfuncs.Method, with(method("get")), "other"},
		{"an invented method", keyfuncs.Method, with(method("X1")), "other"},
		{"another invented method", keyfuncs.Method, with(method("X2")), "other"},
		{"no method", keyfuncs.Method, with(method("")), none},

		{"route", keyfuncs.Route, with(route("/users/{id}")), "/users/{id}"},
		{"no route", keyfuncs.Route, with(), none},
	} {
		if got := keyOf(c.key, c.view); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"} {
		if got := keyOf(keyfuncs.Method, with(method(m))); got != m {
			t.Errorf("%s is counted as %s", m, got)
		}
	}
}
