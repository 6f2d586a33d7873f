package keyfuncs

import ratelimit "github.com/weirhq/ratelimit/core"

// TrustedHeader returns a key function that counts by what a trusted proxy says in
// the header called name: a CDN's country, such as CF-IPCountry, a bot score, the
// number of a verified certificate. At least one option must name who is trusted.
//
// The key is the header's line, without white space around it. From any other peer
// the header is not read and the request has no key; nor has it where the header
// is missing, empty, or comes twice, since a proxy that writes it writes one. Make
// sure that yours overwrites what a client sent, also where it knows nothing.
//
// For the client's address give [ClientIP] a [FromHeader]: only that groups IPv6.
// X-Forwarded-For and Forwarded hold what clients wrote, so they are refused here.
//
// The header from a private address, or a unix socket, that is not trusted is
// reported as [ratelimit.CodeUntrustedProxy].
func TrustedHeader(name string, options ...TrustOption) ratelimit.KeyFunc {
	h := &trustedHeader{name: name}
	for _, option := range options {
		option(&h.trust)
	}
	if err := h.finish(); err != nil {
		panic(err)
	}
	return h.append
}

type trustedHeader struct {
	trust
	hint hint
	name string
}

// finish checks the name and the options together.
func (h *trustedHeader) finish() error {
	if !isToken(h.name) {
		h.bad("TrustedHeader", "needs the name of a header, has %q", h.name)
		return h.ready()
	}
	h.name = headerName("TrustedHeader", h.name)
	if h.name == forwardedFor || h.name == forwarded {
		h.bad("TrustedHeader", "cannot be %s, which holds what clients wrote: give ClientIP", h.name)
	}
	if h.nobody() {
		h.bad("TrustedHeader", "is read from trusted peers only: give TrustProxies too")
	}
	h.fromPeerOnly(h.name)
	h.hint.effect = "its clients have no key"
	h.hint.watched = []string{h.name}
	return h.ready()
}

func (h *trustedHeader) append(dst []byte, r ratelimit.Request) ([]byte, error) {
	if peer := peerOf(r); !h.trusts(peer, 0) {
		h.hint.warn(r, peer)
		return dst, ratelimit.ErrNoKey
	}
	line, _ := onlyLine(r, h.name)
	return appendText(dst, trim(line))
}
