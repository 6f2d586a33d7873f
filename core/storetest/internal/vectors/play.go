package vectors

import (
	"context"
	"fmt"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest/internal/clock"
)

// unknown is a number that a trace does not tell.
const unknown = -2

// Mismatch is a step at which a store said something else.
type Mismatch struct {
	Trace     string
	Step      int    // from 0
	Text      string // the step as it is written
	Want, Got string
}

func (m Mismatch) String() string {
	return fmt.Sprintf("trace %q, step %d %s:\n\twant %s\n\tgot  %s", m.Trace, m.Step, m.Text, m.Want, m.Got)
}

// player is a trace being played.
type player struct {
	trace    *Trace
	store    ratelimit.Store
	clock    *clock.Clock
	charges  []ratelimit.Charge
	results  []ratelimit.Result
	receipts map[int64]ratelimit.Receipt // of the first layer, by instant
}

// Play plays a trace under a key on a store that reads the clock, and returns
// the steps that went another way. An error is the store's own.
func (t *Trace) Play(store ratelimit.Store, c *clock.Clock, key string) ([]Mismatch, error) {
	p := &player{trace: t, store: store, clock: c, receipts: map[int64]ratelimit.Receipt{}}
	p.results = make([]ratelimit.Result, len(t.Layers))
	for i, l := range t.Layers {
		space := ratelimit.NewSpace(fmt.Sprintf("layer%d", i), l.Known...)
		if err := store.Open(space); err != nil {
			return nil, err
		}
		p.charges = append(p.charges, ratelimit.Charge{Space: space, Key: []byte(key), Limit: l.Limit, MaxDelay: l.MaxDelay})
	}
	var bad []Mismatch
	for i, step := range t.Steps {
		want, got, err := p.step(step)
		if err != nil {
			return bad, fmt.Errorf("trace %q, step %d: %w", t.Name, i, err)
		}
		if want != got {
			bad = append(bad, Mismatch{t.Name, i, step.Text, want, got})
		}
	}
	return bad, nil
}

func (p *player) step(s Step) (want, got string, err error) {
	if s.Kind == Change {
		p.charges[0].Limit = s.Limit
		return "", "", nil
	}
	p.clock.Set(s.At)
	costs := s.Costs
	if s.Kind == Adjust {
		if err := p.adjust(s); err != nil {
			return "", "", err
		}
		costs = []int64{0}
	}
	for i, cost := range costs {
		p.charges[i].Cost = cost
	}
	if err := p.store.Take(context.Background(), p.charges, p.results); err != nil {
		return "", "", err
	}
	for i, r := range p.results {
		if s.Kind == Adjust {
			want += fmt.Sprintf("[remaining %d reset %d]", s.Want[i].Remaining, s.Want[i].Reset)
			got += fmt.Sprintf("[remaining %d reset %d]", r.Remaining, micros(r.ResetAfter))
			continue
		}
		answer := Answer{r.Allowed, r.Remaining, micros(r.RetryAfter), micros(r.ResetAfter), micros(r.Delay), micros(r.NextAfter)}
		if s.Want[i].Next == unknown {
			answer.Next = unknown
		}
		want += s.Want[i].String()
		got += answer.String()
	}
	if r := p.results[0].Receipt; r.Units > 0 {
		p.receipts[s.At] = r
	}
	return want, got, nil
}

// adjust charges or gives back. A refund hands back the receipt of the last
// charge of its instant.
func (p *player) adjust(s Step) error {
	c := p.charges[0]
	a := []ratelimit.Adjustment{{Op: ratelimit.Extra, Space: c.Space, Key: c.Key, Limit: c.Limit, Units: s.Units}}
	at := s.At
	if s.Units < 0 {
		r, ok := p.receipts[s.TakenAt]
		if !ok {
			return fmt.Errorf("no charge was made at %d", s.TakenAt)
		}
		a[0].Op, a[0].Units, a[0].Receipt, at = ratelimit.Refund, -s.Units, r, s.TakenAt
	}
	err := p.store.Adjust(context.Background(), a)
	p.receipts[at] = a[0].Receipt
	return err
}

func (a Answer) String() string {
	s := fmt.Sprintf("[fits %t remaining %d retry %d reset %d delay %d", a.Fits, a.Remaining, a.Retry, a.Reset, a.Delay)
	if a.Next != unknown {
		s += fmt.Sprintf(" next %d", a.Next)
	}
	return s + "]"
}

func micros(d time.Duration) int64 {
	if d == ratelimit.Never {
		return -1
	}
	return int64(d / time.Microsecond)
}
