package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

// scene is one random request, and what the app's functions and the store make of it.
type scene struct {
	method, key string
	preflight   bool
	merged      bool
	entry       int     // which of the limiter's methods is called
	fates       [3]fate // of the policies
	down        bool    // the store
	results     [3]ratelimit.Result
}

// fate is what becomes of a policy.
type fate int

const (
	applies fate = iota
	other        // it is for other requests
	noKey
	keyFails
	costFails
	costs // 7, not 1
	numFates
)

func newScene(r *rand.Rand) scene {
	s := scene{
		method: []string{"GET", "HEAD", "OPTIONS"}[r.IntN(3)], key: strings.Repeat("k", r.IntN(200)),
		preflight: r.IntN(4) == 0, merged: r.IntN(3) == 0, entry: r.IntN(4), down: r.IntN(5) == 0,
	}
	for i := range s.fates {
		if r.IntN(2) == 0 {
			s.fates[i] = fate(r.IntN(int(numFates)))
		}
		s.results[i] = ratelimit.Result{
			Allowed: r.IntN(3) > 0, Used: r.Int64N(10), Remaining: r.Int64N(10), Delay: time.Duration(r.IntN(2)) * time.Second,
			RetryAfter: []time.Duration{time.Second, time.Hour, ratelimit.Never}[r.IntN(3)],
			ResetAfter: time.Duration(r.IntN(100)) * time.Second, NextAfter: time.Duration(r.IntN(100)) * time.Second,
		}
	}
	return s
}

// stage is a limiter that plays scenes.
type stage struct {
	limits *ratelimit.Limiter
	scene  scene
}

func newStage(style ratelimit.HeaderStyle, answer ratelimit.AnswerStyle) *stage {
	s := new(stage)
	store := &limittest.Store{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}
	store.Decide(func(a limittest.Asked) (ratelimit.Result, error) {
		if s.scene.down {
			return ratelimit.Result{}, errors.New("down")
		}
		return s.scene.results[a.Policy[0]-'a'], nil
	})
	policy := func(i int, o ratelimit.Over, mode ratelimit.NoKey) ratelimit.Policy {
		return ratelimit.Policy{
			Name: string(rune('a' + i)), Limit: ratelimit.PerMinute(10), Over: o, NoKey: mode, OnFailure: ratelimit.FailureMode(i),
			If: func(ratelimit.Request) bool { return s.scene.fates[i] != other },
			Key: func(dst []byte, _ ratelimit.Request) ([]byte, error) {
				switch s.scene.fates[i] {
				case noKey:
					return append(dst, "left over"...), ratelimit.ErrNoKey
				case keyFails:
					return nil, errors.New("key")
				default:
					return append(dst, s.scene.key...), nil
				}
			},
			Cost: func(ratelimit.Request) (int64, error) {
				switch s.scene.fates[i] {
				case costFails:
					return -1, nil
				case costs:
					return 7, nil
				default:
					return 1, nil
				}
			},
		}
	}
	s.limits = ratelimit.Must(ratelimit.Config{
		Store: store, Headers: style, Answer: answer,
		Policies: []ratelimit.Policy{
			policy(0, ratelimit.Delay(time.Minute), ratelimit.NoKeyDeny),
			policy(1, ratelimit.Shadow(), ratelimit.NoKeySkip),
			policy(2, ratelimit.Meter(), ratelimit.NoKeyShared),
		},
	})
	return s
}

// tells returns all that a decision tells.
func tells(d ratelimit.Decision) string {
	return fmt.Sprintf("%s %v, %d of %v fits %v, %d used, %d left, retry %v, reset %v, next %v, delay %v, allowed %v, enforced %v, at %v",
		d.Policy, d.Outcome, d.Cost, d.Limit, d.Fits, d.Used, d.Remaining, d.RetryAfter, d.ResetAfter, d.NextAfter, d.Delay,
		d.Allowed(), d.Enforced(), d.At())
}

// play returns all that a ticket tells of a scene.
func (s *stage) play(c scene) []string {
	s.scene = c
	h := make(http.Header)
	if c.preflight {
		h.Set("Origin", "https://example.com")
		h.Set("Access-Control-Request-Method", "PUT")
	}
	view := limittest.Request{Method: c.method, Header: h}.View()
	var t *ratelimit.Ticket
	switch c.entry {
	case 0:
		d, err := s.limits.Allow(context.Background(), c.key, 2)
		return []string{tells(d), fmt.Sprint(err)}
	case 1:
		t = ratelimit.Refuse(view, ratelimit.Decision{Policy: "a", Outcome: ratelimit.Outcome(c.fates[0] % 5), RetryAfter: c.results[0].RetryAfter})
	default:
		t = s.limits.Begin(view)
	}
	defer t.End(200, nil)
	told := []string{fmt.Sprint(t.Outcome(), t.Status(), t.Delay()), tells(t.Decision())}
	for d := range t.Decisions() {
		told = append(told, tells(d))
	}
	if c.merged {
		t.Merge(func(name string) string {
			return map[string]string{"X-Ratelimit-Limit": "10", "X-Ratelimit-Remaining": "5", "Retry-After": "60"}[name]
		})
	}
	contentType, body := t.Body()
	told = append(told, fmt.Sprintf("%s %s (nil: %v)", contentType, body, body == nil))
	return append(told, headers(t)...)
}

// A ticket that was used before is as good as new: nothing of one request shows in
// another's, whatever went before.
func TestTicketsAreUsedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, answer := range []ratelimit.AnswerStyle{ratelimit.AnswerJSON, ratelimit.AnswerProblem, ratelimit.AnswerText} {
		for _, style := range []ratelimit.HeaderStyle{{}, {Draft: ratelimit.Draft6, ResetDelta: true}, {Draft: ratelimit.Draft11, PartitionKey: []byte("secret")}} {
			used := newStage(style, answer)
			for i := range 1000 {
				c := newScene(r)
				got, want := used.play(c), newStage(style, answer).play(c)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("request %d, %+v, differs from a first one (-first +this):\n%s", i, c, diff)
				}
			}
		}
	}
}

// Ending twice, as a careless adapter could, does not hand one ticket to two.
func TestTicketEndTwice(t *testing.T) {
	b := newBench(pol("api", ratelimit.PerHour(100)))
	ticket := b.Begin(get("ann"))
	ticket.End(200, nil)
	ticket.End(200, nil)
	first, second := b.Begin(get("ann")), b.Begin(get("ann"))
	if first == second {
		t.Error("two requests share a ticket")
	}
	first.End(200, nil)
	second.End(200, nil)
}

// The loop over decisions may stop early.
func TestDecisionsStop(t *testing.T) {
	b := newBench(pol("a", ratelimit.PerHour(9)), pol("b", ratelimit.PerHour(9)))
	ticket := b.Begin(get("ann"))
	defer ticket.End(200, nil)
	var names []string
	for d := range ticket.Decisions() {
		names = append(names, d.Policy)
		break
	}
	if len(names) != 1 || names[0] != "a" {
		t.Errorf("%q", names)
	}
}
