package keyfuncs

import (
	"net/netip"
	"strings"
)

// The parsers of what clients and proxies wrote return the zero Addr for what is
// no address. They look at the bytes before netip does, since its errors
// allocate and it keeps every zone that it meets.

// trim removes the white space that lists allow (RFC 9110, section 5.6.3), and no
// other: a vertical tab is not part of an address.
func trim(s string) string { return strings.Trim(s, " \t") }

// cutElement returns the last element of a comma-separated list and the list
// without it.
func cutElement(s string) (rest, element string) {
	if i := strings.LastIndexByte(s, ','); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// parseAddress reads an address with or without port: what netip.ParseAddr or
// netip.ParseAddrPort accepts, or IPv6 in brackets.
func parseAddress(s string) netip.Addr {
	if strings.Count(s, ":") > 1 && s[0] != '[' {
		return parseIP(s)
	}
	return parseNode(s, isPort)
}

// parseNode reads IPv4, or IPv6 in brackets, and a port where one follows.
func parseNode(s string, isPort func(string) bool) netip.Addr {
	host, port, found := strings.Cut(s, ":")
	if s != "" && s[0] == '[' {
		i := strings.LastIndexByte(s, ']')
		if i < 0 {
			return netip.Addr{}
		}
		host, port = s[1:i], s[i+1:]
		if !strings.Contains(host, ":") { // brackets are IPv6's
			return netip.Addr{}
		}
		if port, found = strings.CutPrefix(port, ":"); !found && port != "" {
			return netip.Addr{}
		}
	}
	if found && !isPort(port) {
		return netip.Addr{}
	}
	return parseIP(host)
}

// parseViewer reads CloudFront-Viewer-Address. It always ends in a port, and IPv6
// comes without brackets, so that a port would pass for the last group.
func parseViewer(s string) netip.Addr {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || !isPort(s[i+1:]) {
		return netip.Addr{}
	}
	if s[0] == '[' {
		return parseNode(s, isPort)
	}
	return parseIP(s[:i])
}

// longest is the length of the longest address: IPv6 with a dotted tail.
const longest = len("0000:0000:0000:0000:0000:ffff:255.255.255.255")

// parseIP reads a bare address and makes it canonical: IPv4-mapped is IPv4, and a
// zone is dropped.
func parseIP(s string) netip.Addr {
	if addr, zone, found := strings.Cut(s, "%"); found {
		if zone == "" || !strings.Contains(addr, ":") {
			return netip.Addr{}
		}
		s = addr
	}
	if s == "" || len(s) > longest {
		return netip.Addr{}
	}
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F', c == ':', c == '.':
		default:
			return netip.Addr{}
		}
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// isPort reports whether s is a decimal port.
func isPort(s string) bool {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		if n = n*10 + int(s[i]-'0'); n > 65535 {
			return false
		}
	}
	return s != ""
}
