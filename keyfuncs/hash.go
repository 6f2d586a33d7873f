package keyfuncs

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Hash returns a key function whose key is the SHA-256 of f's key, in hex, so
// that a store, log or metric holds nothing that can be used. It hides what is
// hard to guess, such as tokens; a phone number can be found by trying them all.
func Hash(f ratelimit.KeyFunc) ratelimit.KeyFunc {
	if f == nil {
		panic(mistake("Hash", "needs a key function"))
	}
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		key, err := f(spare(dst), r)
		if err != nil {
			return dst, err
		}
		return appendHash(dst, sha256.Sum256(key)), nil
	}
}

// APIKey returns a key function that counts by the API key in the header called
// name. Of Authorization it takes a Bearer token (RFC 6750) and no other scheme;
// of any other header, the whole first line. A missing or empty key is none.
//
// The key is hashed as [Hash] does, so `printf %s "$KEY" | sha256sum` tells what
// it is counted under. There is one header, the one that the app checks: where a
// limiter reads a second one, a client that fills it at random gets a fresh quota
// with every request.
func APIKey(name string) ratelimit.KeyFunc {
	name = headerName("APIKey", name)
	bearer := name == "Authorization"
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		secret := r.Header(name)
		if bearer {
			secret = bearerToken(secret)
		}
		if secret == "" {
			return dst, ratelimit.ErrNoKey
		}
		return appendHash(dst, sum(secret)), nil
	}
}

// Cookie returns a key function that counts by the first cookie called name. The
// key is hashed as [APIKey]'s is, since the cookie that tells who somebody is most
// often lets others in as him. A missing or empty cookie is no key.
//
// Clients choose what they send: see the package's comment.
func Cookie(name string) ratelimit.KeyFunc {
	if !isToken(name) {
		panic(mistake("Cookie", "needs the name of a cookie, has %q", name))
	}
	return func(dst []byte, r ratelimit.Request) ([]byte, error) {
		value, _ := r.Cookie(name)
		if value == "" {
			return dst, ratelimit.ErrNoKey
		}
		return appendHash(dst, sum(value)), nil
	}
}

// bearerToken returns the token of an Authorization line, or "".
func bearerToken(line string) string {
	scheme, token, _ := strings.Cut(line, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return trim(token)
}

// sum is sha256.Sum256 for text, without a copy of it on the heap: tokens are long.
func sum(s string) (sum [sha256.Size]byte) {
	h := sha256.New()
	var chunk [256]byte
	for s != "" {
		n := copy(chunk[:], s)
		h.Write(chunk[:n])
		s = s[n:]
	}
	h.Sum(sum[:0])
	return sum
}

func appendHash(dst []byte, sum [sha256.Size]byte) []byte { return hex.AppendEncode(dst, sum[:]) }
