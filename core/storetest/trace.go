package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/internal/clock"
	"github.com/weirhq/ratelimit/core/storetest/internal/model"
)

// trace is a series of steps that is played on the model and on a store alike.
type trace struct {
	spaces []*ratelimit.Space
	steps  []step
}

// step is a Take, or an Adjust where it has no charges.
type step struct {
	at      int64 // µs since 1970
	charges []ratelimit.Charge
	adjust  ratelimit.Adjustment
	of      *slot // the charge that is adjusted; nil for Extra and Reset
	id      int   // names the step's own receipts, whatever is cut out before it
}

// slot names the receipt of a charge.
type slot struct{ step, charge int }

// stage plays a trace, step by step.
type stage struct {
	clock    *clock.Clock
	model    *model.Store
	store    ratelimit.Store // nil: the model alone
	high     int64           // the latest instant so far
	receipts map[slot]ratelimit.Receipt
}

func newStage(h Harness) *stage {
	c := &clock.Clock{}
	return &stage{clock: c, model: model.New(c.Now, h.logQuota()), receipts: map[slot]ratelimit.Receipt{}}
}

// open opens spaces on the model, and on the store under test if there is one.
func (s *stage) open(spaces []*ratelimit.Space) error {
	for _, space := range spaces {
		if err := s.model.Open(space); err != nil {
			return err
		}
		if s.store == nil {
			continue
		}
		if err := s.store.Open(space); err != nil {
			return err
		}
	}
	return nil
}

// vague reports whether it is up to the store what it remembers of a key.
func (s *stage) vague(space *ratelimit.Space, key []byte, at int64) bool {
	return s.model.Vague(space, key, at, s.high)
}

func (s *stage) ahead(c ratelimit.Charge, at int64) bool {
	return s.model.Ahead(c.Space, c.Key, c.Limit, at)
}

// anyVague reports whether a step's answer is in any way up to the store.
func (s *stage) anyVague(st step) bool {
	for i, c := range st.charges {
		if s.vague(c.Space, c.Key, st.at) || c.Mode == ratelimit.Spill && (s.ahead(st.charges[i-1], st.at) || s.ahead(c, st.at)) {
			return true
		}
	}
	return st.charges == nil && s.vague(st.adjust.Space, st.adjust.Key, st.at)
}

// step plays one step, and returns what the model said of each charge and how the
// store differs.
func (s *stage) step(st step) ([]ratelimit.Result, error) {
	s.clock.Set(st.at)
	s.high = max(s.high, st.at)
	charges := st.charges
	if charges == nil {
		if err := s.adjust(st); err != nil {
			return nil, err
		}
		if st.adjust.Space.Penalty != nil {
			return nil, nil
		}
		a := st.adjust
		charges = []ratelimit.Charge{{Space: a.Space, Key: a.Key, Limit: a.Limit}}
	}
	want := make([]ratelimit.Result, len(charges))
	if err := s.model.Take(context.Background(), charges, want); err != nil {
		return nil, err
	}
	for i, r := range want {
		if r.Receipt.Units > 0 && st.charges != nil {
			s.receipts[slot{st.id, i}] = r.Receipt
		}
	}
	if s.store == nil {
		return want, nil
	}
	got := make([]ratelimit.Result, len(charges))
	if err := s.store.Take(context.Background(), charges, got); err != nil {
		return nil, err
	}
	for i := range want {
		if err := differ(want[i], got[i]); err != nil {
			return nil, fmt.Errorf("charge %d: %w", i, err)
		}
	}
	return want, nil
}

func (s *stage) adjust(st step) error {
	want, own := st.adjust, slot{st.id, 0}
	if st.of != nil {
		own = *st.of
		r, ok := s.receipts[own]
		if !ok {
			return nil // the charge was cut out of the trace
		}
		want.Receipt = r
	}
	got := []ratelimit.Adjustment{want}
	wants := []ratelimit.Adjustment{want}
	if err := s.model.Adjust(context.Background(), wants); err != nil {
		return err
	}
	s.receipts[own] = wants[0].Receipt
	if s.store == nil {
		return nil
	}
	if err := s.store.Adjust(context.Background(), got); err != nil {
		return err
	}
	if w, g := wants[0].Receipt, got[0].Receipt; receiptText(w) != receiptText(g) {
		return fmt.Errorf("want receipt %s\n\tgot  receipt %s", receiptText(w), receiptText(g))
	}
	return nil
}

// differ compares two results.
func differ(want, got ratelimit.Result) error {
	if w, g := resultText(want), resultText(got); w != g {
		return fmt.Errorf("\n\twant %s\n\tgot  %s", w, g)
	}
	return nil
}

// play plays the whole trace on a fresh store. It returns nothing where what the
// store remembers is up to it, which can happen to a trace with steps cut out.
func (tr *trace) play(t testing.TB, h Harness) error {
	scope := &scope{TB: t}
	defer scope.close()
	s := newStage(h)
	s.store = h.Open(scope, s.clock.Now)
	if err := s.open(tr.spaces); err != nil {
		return err
	}
	for i, st := range tr.steps {
		if s.anyVague(st) {
			return nil
		}
		if _, err := s.step(st); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// shrink cuts out steps for as long as the trace still fails.
func (tr *trace) shrink(t testing.TB, h Harness) {
	for size := len(tr.steps); size > 0; size /= 2 {
		for i := 0; i+size <= len(tr.steps); {
			shorter := &trace{tr.spaces, slices.Delete(slices.Clone(tr.steps), i, i+size)}
			if shorter.play(t, h) != nil {
				tr.steps = shorter.steps
			} else {
				i += size
			}
		}
	}
}

// scope is a testing.TB whose clean-ups run when it is closed.
type scope struct {
	testing.TB
	cleanups []func()
}

// Cleanup overrides the method of testing.TB.
func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scope) close() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

func (tr *trace) String() string {
	var b strings.Builder
	for i, s := range tr.spaces {
		fmt.Fprintf(&b, "\tspace %s#%d %s", s.Policy, i, spaceText(s))
	}
	for i, st := range tr.steps {
		fmt.Fprintf(&b, "\t%3d. t=%d %s\n", i, st.at, st)
	}
	return b.String()
}

func spaceText(s *ratelimit.Space) string {
	switch {
	case s.Penalty != nil:
		return fmt.Sprintf("%+v\n", *s.Penalty)
	case s.Lease:
		return fmt.Sprintf("leases, %v\n", s.Limits[0].Window)
	default:
		return fmt.Sprintf("%v, %v\n", s.Limits[0].Algorithm, s.Limits[0].Window)
	}
}
