package redisstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// broken fails the test unless f fails as a call does that finds what it cannot read.
func broken(t *testing.T, what string, err error) {
	t.Helper()
	if !redis.HasErrorPrefix(err, "RATELIMIT") {
		t.Fatalf("%s: want an error that begins with RATELIMIT, got %v", what, err)
	}
}

// foreign returns ways to put something under a key that no script wrote, by name.
func foreign(client *redis.Client) map[string]func(t *testing.T, key string) {
	ways := map[string]func(t *testing.T, key string){
		"a list": func(t *testing.T, key string) { client.RPush(t.Context(), key, "a", "b") },
		"a hash": func(t *testing.T, key string) { client.HSet(t.Context(), key, "a", "b") },
		"a set":  func(t *testing.T, key string) { client.SAdd(t.Context(), key, "a") },
	}
	text := func(name, value string) {
		ways[name] = func(t *testing.T, key string) { client.Set(t.Context(), key, value, 0) }
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, 8, 15, 16, 23, 24, 25, 31, 32, 33, 47, 48, 49, 64, 80, 100, 1023, 1024, 1025, 1040, 5000} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32()) | 1 // so that no number is whole
		}
		text(fmt.Sprint(n, " random bytes"), string(b))
		text(fmt.Sprint(n, " bytes 0xff"), strings.Repeat("\xff", n))
		text(fmt.Sprint("a number of ", n), strings.Repeat("9", n))
	}
	for _, x := range []float64{-1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, 1 << 60} {
		text(fmt.Sprint("a state of ", x), string(appendNumbers(nil, x, x, x)))
		text(fmt.Sprint("a log of ", x), string(appendNumbers(nil, x, x, x, x, x, x, x, x)))
	}
	return ways
}

func TestWhatNoScriptWroteIsAnErrorOnce(t *testing.T) {
	client := startRedis(t)
	bystanders := ratelimit.NewSpace("bystander", ratelimit.PerMinute(10))
	for name, space := range kinds() {
		t.Run(name, func(t *testing.T) {
			for what, put := range foreign(client) {
				s := newSubject(t, client, space, true)
				if err := s.Open(bystanders); err != nil {
					t.Fatal(err)
				}
				other := ratelimit.Charge{Space: bystanders, Key: []byte("key"), Limit: bystanders.Limits[0], Cost: 1}
				s.take(other)
				bystander := s.keys()[0]
				before := client.Get(t.Context(), bystander).Val()
				s.take(s.charge(1, ratelimit.Force))
				key := s.keys()[0]
				if key == bystander {
					key = s.keys()[1]
				}
				spoil := func() {
					client.Del(t.Context(), key)
					put(t, key)
				}

				spoil()
				broken(t, what, s.Take(t.Context(), []ratelimit.Charge{other, s.charge(1, ratelimit.Enforce)}, make([]ratelimit.Result, 2)))
				if r := s.take(s.charge(1, ratelimit.Enforce))[0]; r.Used != 1 {
					t.Fatalf("%s: want a new start after the error, got %+v", what, r)
				}
				for _, op := range []ratelimit.Op{ratelimit.Refund, ratelimit.Extra} {
					spoil()
					a := []ratelimit.Adjustment{{Op: op, Space: space, Key: []byte("key"), Limit: s.limit, Units: 1}}
					broken(t, what, s.Adjust(t.Context(), a))
				}
				if space.Lease {
					spoil()
					a := []ratelimit.Adjustment{{Op: ratelimit.Renew, Space: space, Key: []byte("key"), Limit: s.limit, Receipt: ratelimit.Receipt{At: 1, Units: 1}}}
					broken(t, what, s.Adjust(t.Context(), a))
				}
				spoil()
				s.adjust(ratelimit.Reset, 0, ratelimit.Receipt{})
				if r := s.take(s.charge(1, ratelimit.Enforce))[0]; r.Used != 1 {
					t.Fatalf("%s: want a new start after a reset, got %+v", what, r)
				}
				if after := client.Get(t.Context(), bystander).Val(); after != before {
					t.Fatalf("%s: want the other key as it was, got %q", what, after)
				}
			}
		})
	}
}

// Of several keys that are broken at once, one error is told and all are well again.
func TestSeveralBrokenKeysAreOneError(t *testing.T) {
	client := startRedis(t)
	for name, space := range kinds() {
		s := newSubject(t, client, space, true)
		var charges []ratelimit.Charge
		for _, key := range []string{"one", "two", "three"} {
			c := s.charge(1, ratelimit.Enforce)
			c.Key = []byte(key)
			charges = append(charges, c)
		}
		s.take(charges...)
		for _, key := range s.keys() {
			client.Set(t.Context(), key, "nonsense", 0)
		}
		broken(t, name, s.Take(t.Context(), charges, make([]ratelimit.Result, 3)))
		for _, r := range s.take(charges...) {
			if r.Used != 1 {
				t.Errorf("%s: want a new start after the error, got %+v", name, r)
			}
		}
	}
}

func TestStrikesThatNoScriptWroteAreAnErrorOnce(t *testing.T) {
	client := startRedis(t)
	space := ratelimit.NewPenaltySpace("penalty", ratelimit.Penalty{Denials: 3, Within: 60e9, Ban: 60e9})
	limits := ratelimit.NewSpace("policy", ratelimit.PerMinute(1))
	for what, put := range foreign(client) {
		s := newSubject(t, client, space, true)
		if err := s.Open(limits); err != nil {
			t.Fatal(err)
		}
		charges := []ratelimit.Charge{{Space: limits, Key: []byte("key"), Limit: limits.Limits[0], Cost: 2}, s.charge(1, ratelimit.Strike)}
		s.take(charges...)
		key := s.keys()[0]
		client.Del(t.Context(), key)
		put(t, key)
		broken(t, what, s.Take(t.Context(), charges, make([]ratelimit.Result, 2)))
		if r := s.take(charges...)[1]; r.Used != 1 {
			t.Fatalf("%s: want a new start after the error, got %+v", what, r)
		}
	}
}

// An entry in the middle of a long log is only read where a search comes by.
func TestLogWithAnEntryThatNoScriptWrote(t *testing.T) {
	client := startRedis(t)
	space := kinds()["sliding_log"]
	s := newSubject(t, client, space, true)
	var log []byte
	at := float64(s.now.UnixMicro() - 200_000_000)
	log = appendNumbers(log, 0, 200, 0)
	for i := range 200 {
		log = appendNumbers(log, at+float64(i)*1e6, float64(i+1))
	}
	s.take(s.charge(1, ratelimit.Enforce))
	key := s.keys()[0]
	for _, i := range []int{0, 100, 199} {
		spoilt := bytes.Clone(log)
		binary.LittleEndian.PutUint64(spoilt[24+16*i:], math.Float64bits(0.5))
		client.Set(t.Context(), key, spoilt, 0)
		broken(t, "an entry", s.Take(t.Context(), []ratelimit.Charge{s.charge(1, ratelimit.Enforce)}, make([]ratelimit.Result, 1)))
		if keys := s.keys(); len(keys) > 0 {
			t.Fatalf("want the key deleted, got %q", keys)
		}
	}
}

// A server that refuses to read says nothing about the key.
func TestRefusedReadKeepsTheKey(t *testing.T) {
	client := startRedis(t)
	for name, space := range kinds() {
		s := newSubject(t, client, space, true)
		s.take(s.charge(3, ratelimit.Enforce))
		user := "reader" + s.prefix
		if err := client.Do(t.Context(), "ACL", "SETUSER", user, "on", "nopass", "~*", "+@all", "-get", "-getrange").Err(); err != nil {
			t.Fatal(err)
		}
		denied := redis.NewClient(&redis.Options{Addr: client.Options().Addr, Username: user, Password: "any", MaxRetries: -1})
		defer denied.Close()
		var c call
		s.Store.(*Store).encoder.take(&c, []ratelimit.Charge{s.charge(1, ratelimit.Enforce)}, false)
		err := denied.Eval(t.Context(), c.script.text, c.keys, c.arg).Err()
		if err == nil || redis.HasErrorPrefix(err, "RATELIMIT") {
			t.Fatalf("%s: want the server's error, got %v", name, err)
		}
		if r := s.take(s.charge(0, ratelimit.Enforce))[0]; r.Used != 3 {
			t.Fatalf("%s: want 3 used still, got %+v", name, r)
		}
	}
}
