package fiberlimit

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	ratelimit "github.com/weirhq/ratelimit/core"
)

// view is fiber's context under another method set: a conversion, so it costs
// nothing. Its texts are the request's own memory, which fasthttp uses for the next
// request; with fiber's Immutable as well.
type view fiber.Ctx

func newView(c *fiber.Ctx) ratelimit.View { return (*view)(c) }

func (v *view) ctx() *fiber.Ctx { return (*fiber.Ctx)(v) }

// Context is the app's own, not fasthttp's, which serves another request once the
// handler has returned.
func (v *view) Context() context.Context { return v.ctx().UserContext() }
func (v *view) Native() any              { return v.ctx() }

// Value looks among the locals first, then in the UserContext.
func (v *view) Value(key any) any {
	if value := v.ctx().Locals(key); value != nil {
		return value
	}
	return v.Context().Value(key)
}

func (v *view) Peer() netip.AddrPort {
	switch addr := v.ctx().Context().RemoteAddr().(type) {
	case *net.TCPAddr:
		return unmapped(addr.AddrPort())
	case *net.UnixAddr:
		return netip.AddrPort{}
	default: // a listener's own, from the PROXY protocol say
		peer, _ := netip.ParseAddrPort(addr.String())
		return unmapped(peer)
	}
}

// unmapped returns the address as net/http's RemoteAddr would spell it.
func unmapped(peer netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())
}

func (v *view) Text(what ratelimit.Text, name string, i int) (string, bool) {
	c := v.ctx()
	switch what {
	case ratelimit.TextMethod:
		return c.Method(), true
	case ratelimit.TextHost:
		return found(c.Context().Host()) // Hostname would believe X-Forwarded-Host
	case ratelimit.TextPath:
		return unescape(utils.UnsafeString(c.Request().URI().PathOriginal())), true
	case ratelimit.TextRoute:
		return v.route()
	case ratelimit.TextRawQuery:
		return found(c.Request().URI().QueryString())
	case ratelimit.TextHeader:
		return v.header(name, i)
	case ratelimit.TextPathValue:
		return v.pathValue(name)
	case ratelimit.TextContentLength:
		return v.contentLength()
	default:
		return "", false
	}
}

func found(text []byte) (string, bool) { return utils.UnsafeString(text), len(text) > 0 }

// unescape decodes a path, or a part of one. It is not cleaned of ".." and "//",
// as fasthttp's own Path is: fiber's routes match what was sent, and a limit must
// not take it for something else.
func unescape(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		return decoded
	}
	return path
}

// route returns the path that the route was registered with. While fiber runs what
// Use, Group or Static registered, its "route" is where that stands, and not yet the
// one that the request asks for. Only a private field of fiber's tells them apart at
// no cost: GetRoutes does as well, and copies every route.
func (v *view) route() (string, bool) {
	route := v.ctx().Route()
	use := reflect.ValueOf(route).Elem().FieldByName("use")
	if len(route.Handlers) == 0 || use.Kind() == reflect.Bool && use.Bool() {
		return "", false
	}
	return route.Path, true
}

func (v *view) pathValue(name string) (string, bool) {
	c := v.ctx()
	value := c.Params(name)
	if !c.App().Config().UnescapePath { // else fiber did
		value = unescape(value)
	}
	return value, value != ""
}

func (v *view) header(name string, i int) (string, bool) {
	c := v.ctx()
	if c.App().Server().DisableHeaderNamesNormalizing {
		return v.headerInAnyCase(name, i)
	}
	if lines := c.Request().Header.PeekAll(name); i < len(lines) {
		return trimmed(lines[i]), true
	}
	return "", false
}

// trimmed returns a header's value without the white space around it, of which
// fasthttp leaves the tabs.
func trimmed(value []byte) string { return strings.Trim(utils.UnsafeString(value), " \t") }

// headerInAnyCase serves apps that keep header names as they were sent.
func (v *view) headerInAnyCase(name string, i int) (line string, ok bool) {
	v.ctx().Request().Header.VisitAll(func(key, value []byte) {
		if !strings.EqualFold(utils.UnsafeString(key), name) {
			return
		}
		if i == 0 {
			line, ok = trimmed(value), true
		}
		i--
	})
	return line, ok
}

func (v *view) contentLength() (string, bool) {
	header := &v.ctx().Request().Header
	switch n := header.ContentLength(); {
	case n == -1: // chunked
		return "", false
	case n <= 0: // fasthttp's -2: neither length nor chunks, so no body
		return "0", true
	default:
		return utils.UnsafeString(header.Peek(fiber.HeaderContentLength)), true
	}
}
