package keyfuncs

import (
	"net/netip"
	"strings"
)

// cutForwarded returns the last element of a Forwarded list (RFC 7239) and the
// list without it. It scans from the right, as the walk does, so that no quote
// which a client left open to the left changes how a proxy's element reads.
func cutForwarded(s string) (rest, element string) {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"':
			quoted = !quoted || isEscaped(s, i)
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return "", s
}

// isEscaped reports whether s[i] follows an odd number of backslashes.
func isEscaped(s string, i int) bool {
	return (i-len(strings.TrimRight(s[:i], `\`)))%2 == 1
}

// parseForwarded reads the address in the "for" of one element. An element that
// is malformed anywhere, or names it twice, has none.
func parseForwarded(element string) netip.Addr {
	var node string
	seen := false
	for {
		element = strings.TrimLeft(element, " \t;")
		if element == "" {
			break
		}
		name, after, found := strings.Cut(element, "=")
		if !found || !isToken(name) {
			return netip.Addr{}
		}
		value, rest, ok := cutValue(after)
		if !ok {
			return netip.Addr{}
		}
		if strings.EqualFold(name, "for") {
			if seen {
				return netip.Addr{}
			}
			node, seen = value, true
		}
		element = rest
	}
	if strings.Contains(node, `\`) {
		node = unescape(node)
	}
	return parseNode(node, isNodePort)
}

// cutValue returns the value that s starts with, still escaped where it is a
// quoted string, and what follows it from the next ";" on. Unquoted it may hold a
// colon, although a token may not: proxies do write for=203.0.113.7:4711.
func cutValue(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		if i := strings.IndexByte(s, ';'); i >= 0 {
			s, rest = s[:i], s[i:]
		}
		value = strings.TrimRight(s, " \t")
		return value, rest, !strings.ContainsAny(value, "\" \t\\")
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			rest = strings.TrimLeft(s[i+1:], " \t")
			return s[1:i], rest, rest == "" || rest[0] == ';'
		}
	}
	return "", "", false
}

// unescape undoes the quoted pairs of a quoted string. Nobody sends them, so this
// alone may allocate.
func unescape(s string) string {
	if len(s) > 4*longest { // no address in it
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isNodePort reports whether s is a port as Forwarded writes them: up to five
// digits, or an obfuscated name such as "_p1".
func isNodePort(s string) bool {
	name, obfuscated := strings.CutPrefix(s, "_")
	if !obfuscated {
		return len(s) <= 5 && isPort(s)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return name != ""
}
