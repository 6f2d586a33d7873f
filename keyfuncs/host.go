package keyfuncs

import (
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Host is a key function that counts by the host that the client asked for, such
// as "shop.example.com": in lower case, without port and final dot, and an IPv6
// address in its canonical form without brackets. What is no host name (letters,
// digits, "-", "_" and "." in at most 253 bytes) is no key.
//
// Clients choose what they send, and each name that they invent is a fresh quota:
// count by it only where a proxy or the router lets no host in but yours.
func Host(dst []byte, r ratelimit.Request) ([]byte, error) {
	host := r.Host()
	if strings.HasPrefix(host, "[") {
		addr := parseNode(host, isHostPort)
		if !addr.IsValid() {
			return dst, ratelimit.ErrNoKey
		}
		return addr.AppendTo(dst), nil
	}
	name, port, _ := strings.Cut(host, ":")
	name = strings.TrimSuffix(name, ".")
	if !isHostName(name) || !isHostPort(port) {
		return dst, ratelimit.ErrNoKey
	}
	return appendLower(dst, name), nil
}

// isHostPort reports whether s may follow the colon after a host: nothing may as
// well (RFC 3986, section 3.2.3).
func isHostPort(s string) bool { return s == "" || isPort(s) }

// isHostName reports whether s is a name that DNS could hold, or IPv4.
func isHostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	label := 0 // bytes of the current one
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			label++
		case c == '.' && label > 0:
			label = 0
		default:
			return false
		}
	}
	return label > 0
}

// appendLower appends s with its ASCII letters in lower case.
func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
