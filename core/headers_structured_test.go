package ratelimit_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// member is an item of a structured list, its parameters in order.
type member struct {
	Name   string
	Params []param
}

type param struct {
	Name  string
	Value any
}

// parse reads a structured field (RFC 9651) with a parser that is not ours.
func parse(t testing.TB, field string) []member {
	t.Helper()
	list, err := httpsfv.UnmarshalList([]string{field})
	if err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	var members []member
	for _, m := range list {
		item, ok := m.(httpsfv.Item)
		if !ok {
			t.Fatalf("%s: %T is no item", field, m)
		}
		name, ok := item.Value.(string)
		if !ok {
			t.Fatalf("%s: %T is no string", field, item.Value)
		}
		parsed := member{Name: name}
		for _, p := range item.Params.Names() {
			value, _ := item.Params.Get(p)
			parsed.Params = append(parsed.Params, param{p, value})
		}
		members = append(members, parsed)
	}
	return members
}

func TestStructuredFields(t *testing.T) {
	style := ratelimit.HeaderStyle{Draft: ratelimit.Draft11}
	policies := []ratelimit.Policy{
		pol("burst", ratelimit.PerMinute(10).WithBurst(4)),
		over(pol("trial", ratelimit.PerHour(1)), ratelimit.Shadow()),
		pol("api-v1.per_ip", ratelimit.PerDay(1000).Using(ratelimit.SlidingLog)),
		over(pol("billed", ratelimit.PerHour(1)), ratelimit.Meter()),
	}
	for _, c := range []struct {
		name          string
		n             int
		policy, limit []member
	}{
		{
			"allowed", 2,
			[]member{
				{"burst", []param{{"q", int64(4)}, {"w", int64(24)}}},
				{"api-v1.per_ip", []param{{"q", int64(1000)}, {"w", int64(86400)}}},
				{"billed", []param{{"q", int64(1)}, {"w", int64(3600)}}},
			},
			[]member{
				{"burst", []param{{"r", int64(2)}, {"t", int64(6)}}},
				{"api-v1.per_ip", []param{{"r", int64(998)}, {"t", int64(86400)}}},
				{"billed", []param{{"r", int64(0)}, {"t", int64(7200)}}}, // two used of one: the debt first
			},
		},
		{
			"denied", 5,
			[]member{{"burst", []param{{"q", int64(4)}, {"w", int64(24)}}}},
			[]member{{"burst", []param{{"r", int64(0)}, {"t", int64(6)}}}},
		},
	} {
		lines := strings.Join(told(style, c.n, policies...), "\n")
		value := func(name string) string {
			_, rest, _ := strings.Cut(lines, "\n"+name+": ")
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
		if diff := cmp.Diff(c.policy, parse(t, value("Ratelimit-Policy"))); diff != "" {
			t.Errorf("%s, RateLimit-Policy (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.limit, parse(t, value("Ratelimit"))); diff != "" {
			t.Errorf("%s, RateLimit (-want +got):\n%s", c.name, diff)
		}
	}
}

// The largest numbers are still integers of a structured field: 15 digits.
func TestStructuredFieldsOfTheCorners(t *testing.T) {
	for _, l := range []ratelimit.Limit{
		ratelimit.Per(1, 366*24*time.Hour).WithBurst(ratelimit.MaxQuota),
		ratelimit.Per(ratelimit.MaxQuota, time.Millisecond),
		ratelimit.Per(ratelimit.MaxQuota, 366*24*time.Hour).Using(ratelimit.SlidingCounter),
		ratelimit.Per(1, time.Millisecond),
	} {
		b := configured(ratelimit.Config{
			Headers:  ratelimit.HeaderStyle{Draft: ratelimit.Draft11},
			Policies: []ratelimit.Policy{pol("api", l)},
		})
		b.Allow(t.Context(), "ann", l.Capacity()-1)
		for range 2 {
			ticket := b.Begin(get("ann"))
			parse(t, header(ticket, "Ratelimit-Policy"))
			parse(t, header(ticket, "Ratelimit"))
			if reset, err := strconv.ParseInt(header(ticket, "X-Ratelimit-Reset"), 10, 64); err != nil || reset < b.clock.Now().Unix() {
				t.Errorf("%v: reset at %d, %v", l, reset, err)
			}
			ticket.End(200, nil)
		}
	}
}

// What no wait helps has no t.
func TestStructuredFieldsOfNever(t *testing.T) {
	p := pol("upload", ratelimit.PerMinute(10))
	p.Cost = func(ratelimit.Request) (int64, error) { return 11, nil }
	want := []string{`Ratelimit-Policy: "upload";q=10;w=60`, `Ratelimit: "upload";r=10`, "Cache-Control: no-store"}
	got := told(ratelimit.HeaderStyle{Draft: ratelimit.Draft11, OmitX: true}, 1, p)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// pk tells partitions apart without telling the key, and only where it is asked for.
func TestPartitionKey(t *testing.T) {
	pk := func(secret, key string) []byte {
		style := ratelimit.HeaderStyle{Draft: ratelimit.Draft11}
		if secret != "" {
			style.PartitionKey = []byte(secret)
		}
		b := configured(ratelimit.Config{Headers: style, Policies: []ratelimit.Policy{pol("api", ratelimit.PerMinute(10))}})
		ticket := b.Begin(get(key))
		defer ticket.End(200, nil)
		var found []byte
		for _, name := range []string{"Ratelimit-Policy", "Ratelimit"} {
			field := header(ticket, name)
			if strings.Contains(field, key) {
				t.Errorf("%s tells the key: %s", name, field)
			}
			params := parse(t, field)[0].Params
			i := slices.IndexFunc(params, func(p param) bool { return p.Name == "pk" })
			if (i >= 0) != (secret != "") {
				t.Fatalf("%s with secret %q: %s", name, secret, field)
			}
			if i < 0 {
				continue
			}
			value, ok := params[i].Value.([]byte)
			if !ok || len(value) != 16 || found != nil && !bytes.Equal(found, value) {
				t.Errorf("%s: pk is %v, before %v; want 16 bytes, the same", name, params[i].Value, found)
			}
			found = value
		}
		return found
	}
	ann := pk("secret", "203.0.113.7")
	if !bytes.Equal(ann, pk("secret", "203.0.113.7")) {
		t.Error("one key, two partitions")
	}
	if bytes.Equal(ann, pk("secret", "203.0.113.8")) || bytes.Equal(ann, pk("another", "203.0.113.7")) {
		t.Error("another key or secret, the same partition")
	}
	pk("", "203.0.113.7")
}

// A keyed hash without a key is none: the client could guess it.
func TestPartitionKeyMustNotBeEmpty(t *testing.T) {
	_, err := ratelimit.New(ratelimit.Config{Headers: ratelimit.HeaderStyle{Draft: ratelimit.Draft11, PartitionKey: []byte{}}})
	if got := fields(t, err); !slices.Equal(got, []string{"Headers.PartitionKey"}) {
		t.Errorf("wrong are %q, want Headers.PartitionKey", got)
	}
}

// A Config is copied: the secret's memory is the app's to wipe.
func TestPartitionKeyIsCopied(t *testing.T) {
	secret := []byte("secret")
	b := configured(ratelimit.Config{
		Headers:  ratelimit.HeaderStyle{Draft: ratelimit.Draft11, PartitionKey: secret},
		Policies: []ratelimit.Policy{over(pol("api", ratelimit.PerMinute(10)), ratelimit.Meter())},
	})
	var fields [2]string
	for i := range fields {
		ticket := b.Begin(get("ann"))
		fields[i] = header(ticket, "Ratelimit-Policy")
		ticket.End(200, nil)
		clear(secret)
	}
	if fields[0] != fields[1] {
		t.Errorf("after the secret was wiped:\n%s\n%s", fields[0], fields[1])
	}
}
