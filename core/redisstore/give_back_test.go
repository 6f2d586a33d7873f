package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/redistest"
)

// Where a node fails, what others charged is given back and the error returned.
func TestAcrossSlotsFailure(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	charges := []ratelimit.Charge{p.charge(s.a, 2, ratelimit.Enforce), p.charge(s.b, 3, ratelimit.Enforce)}
	take(t, s, charges...)
	s.cluster.Node(ownerOf(s.cluster, s.b)).Kill()
	if err := s.Take(t.Context(), charges, make([]ratelimit.Result, 2)); err == nil || errors.Is(err, ratelimit.ErrMisuse) {
		t.Errorf("%v, want the node's failure", err)
	}
	if used := p.used(t, s, s.a); used != 2 {
		t.Errorf("%d in use where the Take failed, want 2", used)
	}
	if got := s.seen.kinds(); got != nil {
		t.Errorf("reported %v", got)
	}
}

// The same where the node hangs: the caller leaves at the time-out, its memory is its
// own again, and what others charged is given back a little later.
func TestAcrossSlotsLeft(t *testing.T) {
	s := startAcross(t)
	impatient := storeOf(t, s.client, Config{Timeout: 500 * time.Millisecond})
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	policyOf(t, impatient, "p", ratelimit.PerHour(10))
	charges := []ratelimit.Charge{p.charge(s.a, 2, ratelimit.Enforce), p.charge(s.b, 3, ratelimit.Enforce)}
	take(t, s, charges...)
	node := s.cluster.Node(ownerOf(s.cluster, s.b))
	node.Stop()
	defer node.Resume()
	if err := impatient.Take(t.Context(), charges, make([]ratelimit.Result, 2)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the time-out", err)
	}
	charges[0].Key[0], charges[1].Key[0] = 'x', 'x'
	until(t, func() bool { return impatient.Stats().GiveBacks == 1 && p.used(t, s, s.a) == 2 })
}

// What cannot be given back is reported, and the Take is denied all the same.
func TestAcrossSlotsLostRefund(t *testing.T) {
	s := startAcross(t)
	p := policyOf(t, s, "p", ratelimit.PerHour(10))
	s.client.AddHook(noAdjust{})
	r := take(t, s, p.charge(s.a, 1, ratelimit.Enforce), p.charge(s.b, 11, ratelimit.Enforce))
	if !r[0].Allowed || r[1].Allowed || r[0].Receipt.Units != 0 || r[0].Used != 1 {
		t.Errorf("%+v", r)
	}
	if got := s.seen.kinds(); !slices.Equal(got, []ratelimit.ReportKind{ratelimit.ReportAdjustError}) {
		t.Errorf("reported %v", got)
	}
	if used := p.used(t, s, s.a); used != 1 {
		t.Errorf("%d in use", used)
	}
}

// noAdjust is a hook of a client that loses corrections, and what is sent with them.
type noAdjust struct{}

func (noAdjust) DialHook(next redis.DialHook) redis.DialHook { return next }

func (noAdjust) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if isAdjust(cmd) {
			return io.ErrUnexpectedEOF
		}
		return next(ctx, cmd)
	}
}

func (noAdjust) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, isAdjust) {
			for _, cmd := range cmds {
				cmd.SetErr(io.ErrUnexpectedEOF)
			}
			return io.ErrUnexpectedEOF
		}
		return next(ctx, cmds)
	}
}

func isAdjust(cmd redis.Cmder) bool {
	sha, ok := cmd.Args()[1].(*string)
	return ok && (*sha == adjustScript().sha || *sha == adjustScript().text)
}

// A slot that begins to move after it charged gives back all the same: its refunds do
// not depend on each other, nor do the looks that follow.
func TestMovingSlotGivesBack(t *testing.T) {
	cluster := redistest.StartCluster(t, redistest.ClusterConfig{})
	client, seen := clusterOf(t, cluster.Addrs()), new(recorder)
	s := storeOf(t, client, Config{Timeout: 2 * time.Second, Observer: seen})
	keys := apart(t, cluster, 2)
	charges := make([]ratelimit.Charge, 4)
	for i := range charges {
		charges[i] = policyOf(t, s, fmt.Sprint("p", i), ratelimit.PerHour(10)).charge(keys[0], 1, ratelimit.Enforce)
	}
	charges[3].Key, charges[3].Cost = []byte(keys[1]), 11
	charges = append(charges, ratelimit.Charge{Space: ratelimit.NewPenaltySpace("bans", ratelimit.Penalty{Denials: 9, Within: time.Hour, Ban: time.Hour}), Key: []byte(keys[0]), Cost: 1, Mode: ratelimit.Strike})
	if err := s.Open(charges[4].Space); err != nil {
		t.Fatal(err)
	}
	results := take(t, s, charges...) // the scripts are known from now on

	hold := holdAdjust{reached: make(chan struct{}), pass: make(chan struct{})}
	client.AddHook(&hold)
	done := make(chan error)
	go func() { done <- s.Take(t.Context(), charges, results) }()
	<-hold.reached
	slot, moved := redistest.KeySlot(tagged(keys[0])), 0
	from := cluster.Owner(slot)
	cluster.MigrateSlot(slot, from, (from+1)%cluster.Nodes(), func() {
		if moved++; moved == 2 { // one key is there
			close(hold.pass)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	for i, r := range results[:3] {
		if !r.Allowed || r.Used != 0 || r.Receipt.Units != 0 {
			t.Errorf("charge %d: %+v", i, r)
		}
	}
	if results[3].Allowed || results[4].Used != 2 {
		t.Errorf("the denial and its strike: %+v", results[3:])
	}
	if got := seen.kinds(); got != nil {
		t.Errorf("reported %v", got)
	}
}

// holdAdjust is a hook of a client that holds the first pipeline of corrections back.
type holdAdjust struct {
	noAdjust
	once          sync.Once
	reached, pass chan struct{}
}

func (h *holdAdjust) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h *holdAdjust) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, isAdjust) {
			h.once.Do(func() {
				close(h.reached)
				<-h.pass
			})
		}
		return next(ctx, cmds)
	}
}
