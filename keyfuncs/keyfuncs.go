package keyfuncs

import (
	"fmt"
	"net/textproto"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Func returns a key function that counts by the text that of returns. "" is no
// key. The text is copied, so it may be part of the request.
func Func(of func(ratelimit.Request) string) ratelimit.KeyFunc { return text("Func", of) }

// User returns a key function that counts by who is logged in, as of tells: most
// often from what an authentication middleware stored with the request. "" means
// nobody and is no key.
func User(of func(ratelimit.Request) string) ratelimit.KeyFunc { return text("User", of) }

// Tenant returns a key function that counts by customer, as of tells, so that all
// users of one share a quota. "" means none and is no key.
func Tenant(of func(ratelimit.Request) string) ratelimit.KeyFunc { return text("Tenant", of) }

func text(name string, of func(ratelimit.Request) string) ratelimit.KeyFunc {
	if of == nil {
		panic(mistake(name, "needs a function"))
	}
	return func(dst []byte, r ratelimit.Request) ([]byte, error) { return appendText(dst, of(r)) }
}

func appendText(dst []byte, s string) ([]byte, error) {
	if s == "" {
		return dst, ratelimit.ErrNoKey
	}
	return append(dst, s...), nil
}

// Header returns a key function that counts by the first line of the header
// called name, as sent. A missing or empty header is no key. Headers that carry a
// secret belong to [APIKey].
//
// Clients choose what they send: see the package's comment.
func Header(name string) ratelimit.KeyFunc {
	name = headerName("Header", name)
	return func(dst []byte, r ratelimit.Request) ([]byte, error) { return appendText(dst, r.Header(name)) }
}

// Query returns a key function that counts by the first value of the query
// parameter called name, decoded. A missing or empty one is no key. One that is a
// secret belongs under [Hash].
//
// Clients choose what they send: see the package's comment. A value with a "%" or
// "+" in it takes memory to be decoded.
func Query(name string) ratelimit.KeyFunc {
	if name == "" {
		panic(mistake("Query", "needs the name of a parameter"))
	}
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		value, _ := r.Query(name)
		return appendText(dst, value)
	}
}

// PathValue returns a key function that counts by the path parameter called name,
// as the route's pattern has it: "id" of "/users/{id}". A request without it has no
// key, and so has every request in a middleware that runs before the router.
//
// Clients choose what they send: see the package's comment.
func PathValue(name string) ratelimit.KeyFunc {
	if name == "" {
		panic(mistake("PathValue", "needs the name of a parameter"))
	}
	return func(dst []byte, r ratelimit.Request) ([]byte, error) { return appendText(dst, r.PathValue(name)) }
}

// Method is a key function that counts by the method, as "GET". Those that HTTP
// and PATCH do not define are counted together as "other": clients can invent more.
func Method(dst []byte, r ratelimit.Request) ([]byte, error) {
	switch method := r.Method(); method {
	case "", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE":
		return appendText(dst, method)
	default:
		return append(dst, "other"...), nil
	}
}

// Route is a key function that counts by the pattern of the matched route, such
// as "/users/{id}". A request that no route matched yet has no key: its path is
// not a substitute, since clients can invent paths without end.
func Route(dst []byte, r ratelimit.Request) ([]byte, error) { return appendText(dst, r.Route()) }

// Everyone is a key function that counts all requests together, for limits that
// protect a backend whoever calls.
func Everyone(dst []byte, _ ratelimit.Request) ([]byte, error) {
	return append(dst, "everyone"...), nil
}

// headerName returns name as http.Header spells it, which spares every request
// the conversion.
func headerName(function, name string) string {
	if !isToken(name) {
		panic(mistake(function, "needs the name of a header, has %q", name))
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '!', '#' <= c && c <= '\'', c == '*', c == '+', c == '-', c == '.', c == '^', c == '_', c == '`', c == '|', c == '~':
		default:
			return false
		}
	}
	return s != ""
}

// mistake is what a constructor panics with.
func mistake(function, format string, args ...any) error {
	return &ratelimit.ConfigError{Field: "keyfuncs." + function, Reason: fmt.Sprintf(format, args...)}
}
