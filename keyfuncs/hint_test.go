package keyfuncs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// reports keeps what a limiter says.
type reports []ratelimit.Report

func (*reports) Decided(context.Context, []byte, ratelimit.Decision) {}

func (rs *reports) Reported(_ context.Context, r ratelimit.Report) { *rs = append(*rs, r) }

func TestUntrustedProxyIsReported(t *testing.T) {
	trust := keyfuncs.TrustProxies("10.0.0.0/8")
	country := func() ratelimit.KeyFunc { return keyfuncs.TrustedHeader("CF-IPCountry", trust) }
	for _, c := range []struct {
		name string
		key  ratelimit.KeyFunc
		view *view
		want string // "": nothing is said
	}{
		{"private", keyfuncs.ClientIP(), get("10.0.1.20:1", "X-Forwarded-For: 203.0.113.7"), "X-Forwarded-For arrives from 10.0.1.20, which is not trusted: all clients behind it share one key; if it is your proxy, name it with keyfuncs.TrustProxies"},
		{"loopback", keyfuncs.ClientIP(trust), get("[::1]:1", "X-Real-IP: 203.0.113.7"), "X-Real-Ip arrives from ::1, "},
		{"link-local", keyfuncs.ClientIP(trust), get("[fe80::1%eth0]:1", "Forwarded: for=203.0.113.7"), "Forwarded arrives from fe80::1, "},
		{"carrier", keyfuncs.ClientIP(trust), get("100.64.3.9:1", "X-Forwarded-For: 203.0.113.7"), "X-Forwarded-For arrives from 100.64.3.9, "},
		{"mapped", keyfuncs.ClientIP(), get("[::ffff:192.168.0.2]:1", "X-Forwarded-For: 203.0.113.7"), "X-Forwarded-For arrives from 192.168.0.2, "},
		{"the header that is read", keyfuncs.ClientIP(trust, keyfuncs.FromHeader("Fly-Client-IP")), get("172.16.12.34:1", "Fly-Client-IP: 203.0.113.7"), "Fly-Client-Ip arrives from 172.16.12.34, "},
		{"unix socket", keyfuncs.ClientIP(trust), get("@", "X-Forwarded-For: 203.0.113.7"), "X-Forwarded-For arrives over a connection without address, which is not trusted: its clients have no key; if it is your proxy's unix socket, give keyfuncs.TrustUnixSocket"},

		{"trusted header", country(), get("192.168.0.2:1", "CF-IPCountry: SE"), "Cf-Ipcountry arrives from 192.168.0.2, which is not trusted: its clients have no key; if it is your proxy, name it with keyfuncs.TrustProxies"},
		{"trusted header over a unix socket", country(), get("@", "CF-IPCountry: SE"), "Cf-Ipcountry arrives over a connection without address, which is not trusted: its clients have no key; if it is your proxy's unix socket, give keyfuncs.TrustUnixSocket"},

		{"trusted header from a trusted peer", country(), get("10.0.1.20:1", "CF-IPCountry: SE"), ""},
		{"trusted header from a client", country(), get("203.0.113.7:1", "CF-IPCountry: SE"), ""},
		{"private, no trusted header", country(), get("192.168.0.2:1", "X-Forwarded-For: 203.0.113.7"), ""},
		{"private, no header", keyfuncs.ClientIP(), get("10.0.1.20:1"), ""},
		{"private, another header", keyfuncs.ClientIP(), get("10.0.1.20:1", "Fly-Client-IP: 203.0.113.7"), ""},
		{"trusted", keyfuncs.ClientIP(trust), get("10.0.1.20:1", "X-Forwarded-For: 203.0.113.7"), ""},
		{"public", keyfuncs.ClientIP(trust), get("203.0.113.7:1", "X-Forwarded-For: 10.0.0.1"), ""},
		{"unix socket, no header", keyfuncs.ClientIP(), get("@"), ""},
	} {
		var said reports
		limits := ratelimit.Must(ratelimit.Config{
			Observer: &said,
			Policies: []ratelimit.Policy{{Name: "api", Limit: ratelimit.PerMinute(100), Key: c.key}},
		})
		for range 3 {
			limits.Begin(c.view).End(200, nil)
		}
		if c.want == "" {
			if len(said) != 0 {
				t.Errorf("%s: said %v", c.name, said)
			}
			continue
		}
		if len(said) != 1 {
			t.Errorf("%s: said %d times, want once", c.name, len(said))
			continue
		}
		detail := said[0].Detail
		said[0].Detail = ""
		if diff := cmp.Diff(ratelimit.Report{Kind: ratelimit.ReportMisconfigured, Policy: "api", Code: ratelimit.CodeUntrustedProxy}, said[0]); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if !strings.HasPrefix(detail, c.want) {
			t.Errorf("%s: said %q, want %q", c.name, detail, c.want)
		}
	}
}
