package ratelimit_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// codes returns the codes reported since the last call, with their policies.
func (b *bench) codes() (codes []string) {
	for _, r := range b.said.take() {
		if r.Kind == ratelimit.ReportMisconfigured {
			codes = append(codes, fmt.Sprintf("%s %s", r.Code, r.Policy))
		}
	}
	return codes
}

// throughAll sends a request through limiters, the outermost first, as adapters do.
func throughAll(v ratelimit.View, limiters ...*ratelimit.Limiter) {
	response := http.Header{}
	for _, l := range limiters {
		t := l.Begin(v)
		defer t.End(200, nil)
		t.Merge(response.Get)
		for i := 0; ; i++ {
			name, value, ok := t.HeaderAt(i)
			if !ok {
				break
			}
			response.Set(name, string(value))
		}
	}
}

func native(key string) ratelimit.View {
	return request(limittest.Request{Header: http.Header{"X-Key": {key}}, Native: new(int)})
}

func TestDoubledMiddlewareIsReported(t *testing.T) {
	for _, style := range []ratelimit.HeaderStyle{{}, {Draft: ratelimit.Draft6, OmitX: true}, {Draft: ratelimit.Draft11, OmitX: true}} {
		b := configured(ratelimit.Config{Headers: style, Policies: []ratelimit.Policy{pol("api", ratelimit.PerHour(100))}})
		throughAll(native("ann"), b.Limiter, b.Limiter) // seen to be stacked; the next one is watched
		if codes := b.codes(); codes != nil {
			t.Errorf("%+v: %q after one request, want none yet", style, codes)
		}
		for range 3 {
			throughAll(native("ann"), b.Limiter, b.Limiter)
		}
		if codes := b.codes(); !slices.Equal(codes, []string{"RL002 api"}) {
			t.Errorf("%+v: %q, want it said once", style, codes)
		}
	}
}

// A policy of two limiters of one family is charged twice as well.
func TestPolicyOfTwoStackedLimitersIsReported(t *testing.T) {
	api, login := pol("api", ratelimit.PerHour(100)), pol("login", ratelimit.PerHour(10))
	b := newBench(api)
	both := b.With(api, login)
	for range 2 {
		throughAll(native("ann"), b.Limiter, both)
	}
	if codes := b.codes(); !slices.Equal(codes, []string{"RL002 api"}) {
		t.Errorf("%q, want the policy that is charged twice", codes)
	}
}

func TestStackedLimitersAreNotReported(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerHour(5000)))
	login := b.With(pol("login", ratelimit.PerHour(5000)))
	same := native("ann") // a framework that uses its request again
	for range 2000 {
		throughAll(same, b.Limiter, login)
		throughAll(native("ann"), b.Limiter, login)
	}
	if codes := b.codes(); codes != nil {
		t.Errorf("%q, want none", codes)
	}
}

func TestKeyThatIsNeverFoundIsReported(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerHour(100)), pol("fine", ratelimit.PerHour(100)))
	for i := range 300 {
		if i == 99 {
			if codes := b.codes(); codes != nil {
				t.Errorf("%q after %d requests", codes, i)
			}
		}
		b.begin(request(limittest.Request{}))
	}
	if codes := b.codes(); !slices.Equal(codes, []string{"RL003 api", "RL003 fine"}) {
		t.Errorf("%q, want each policy said once", codes)
	}

	b = newBench(pol("api", ratelimit.PerHour(100)))
	b.begin(get("ann"))
	for range 300 {
		b.begin(request(limittest.Request{}))
	}
	if codes := b.codes(); codes != nil {
		t.Errorf("%q, though a request had a key", codes)
	}
}

// A policy that is for those with a key only, says nothing of those without.
func TestKeyThatMayBeMissingIsNotReported(t *testing.T) {
	p := pol("api", ratelimit.PerHour(100))
	p.NoKey = ratelimit.NoKeySkip
	b := newBench(p)
	for range 300 {
		b.begin(request(limittest.Request{}))
	}
	if said := b.said.take(); said != nil {
		t.Errorf("reported %+v, want nothing", said)
	}
}

// A doubled route that few requests take is found among many that are well set up.
func TestRareDoubledRouteIsReported(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerSecond(1<<30)))
	login := b.With(pol("login", ratelimit.PerSecond(1<<30)))
	for range 3000 {
		throughAll(native("ann"), b.Limiter, login)
	}
	for range 2000 {
		throughAll(native("ann"), b.Limiter, b.Limiter)
		throughAll(native("ann"), b.Limiter, login)
		throughAll(native("ann"), b.Limiter, login)
	}
	if codes := b.codes(); !slices.Equal(codes, []string{"RL002 api"}) {
		t.Errorf("%q, want the doubled policy", codes)
	}
}
