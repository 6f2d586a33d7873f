package storetest_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
)

// broken is a memory store with one mistake.
type broken struct {
	*ratelimit.Memory
	take   func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error
	adjust func(m *ratelimit.Memory, adjustments []ratelimit.Adjustment) error
}

func (b broken) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	if b.take == nil {
		return b.Memory.Take(ctx, charges, results)
	}
	return b.take(b.Memory, charges, results)
}

func (b broken) Adjust(ctx context.Context, adjustments []ratelimit.Adjustment) error {
	if b.adjust == nil {
		return b.Memory.Adjust(ctx, adjustments)
	}
	return b.adjust(b.Memory, adjustments)
}

// each returns a Take that changes the results.
func each(change func(c ratelimit.Charge, r *ratelimit.Result)) func(*ratelimit.Memory, []ratelimit.Charge, []ratelimit.Result) error {
	return func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
		err := m.Take(context.Background(), charges, results)
		for i, c := range charges {
			change(c, &results[i])
		}
		return err
	}
}

// TestSuiteFails shows that each group of checks can fail, on stores with the
// mistakes that limiters are known to make.
func TestSuiteFails(t *testing.T) {
	ctx := context.Background()
	tests := map[string]struct {
		store  broken
		caught []string // what must notice, by the start of its name
	}{
		"charges what it denies": {
			broken{take: func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
				err := m.Take(ctx, charges, results)
				for i, c := range charges {
					if !results[i].Allowed && c.Mode == ratelimit.Enforce && c.Space.Penalty == nil {
						one := []ratelimit.Adjustment{{Op: ratelimit.Extra, Space: c.Space, Key: c.Key, Limit: c.Limit, Units: 1}}
						if err := m.Adjust(ctx, one); err != nil {
							return err
						}
					}
				}
				return err
			}},
			[]string{"denials leave no trace/token_bucket", "denials leave no trace/sliding_counter", "known answers/", "random traces", "500 callers"},
		},
		"tells a RetryAfter 1 µs too short": {
			broken{take: each(func(_ ratelimit.Charge, r *ratelimit.Result) {
				if r.RetryAfter != ratelimit.Never && r.RetryAfter > 0 {
					r.RetryAfter -= time.Microsecond
				}
			})},
			[]string{"waiting RetryAfter is admitted and 1 µs less is not/gcra", "known answers/", "random traces"},
		},
		"tells a RetryAfter 1 µs too long": {
			broken{take: each(func(_ ratelimit.Charge, r *ratelimit.Result) {
				if r.RetryAfter != ratelimit.Never && r.RetryAfter > 0 {
					r.RetryAfter += time.Microsecond
				}
			})},
			[]string{"waiting RetryAfter is admitted and 1 µs less is not/sliding_log", "known answers/", "random traces"},
		},
		"tells a NextAfter 1 µs too long": {
			broken{take: each(func(_ ratelimit.Charge, r *ratelimit.Result) {
				if r.NextAfter > 0 {
					r.NextAfter += time.Microsecond
				}
			})},
			[]string{"NextAfter brings", "known answers/", "random traces"},
		},
		"does not tell its instant": {
			broken{take: each(func(_ ratelimit.Charge, r *ratelimit.Result) { r.Now = 0 })},
			[]string{"random traces"},
		},
		"tells a ResetAfter in whole seconds": {
			broken{take: each(func(_ ratelimit.Charge, r *ratelimit.Result) {
				r.ResetAfter = r.ResetAfter.Truncate(time.Second)
			})},
			[]string{"ResetAfter brings", "known answers/", "random traces"},
		},
		"ignores the second charge": {
			broken{take: func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
				if len(charges) < 2 {
					return m.Take(ctx, charges, results)
				}
				looks := slices.Clone(charges)
				looks[1].Cost = 0
				return m.Take(ctx, looks, results)
			}},
			[]string{"all charges are made or none", "the second charge of a key sees the first", "single and triple", "known answers/several", "random traces"},
		},
		"takes one charge after the other": {
			broken{take: func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
				for i := range charges {
					if charges[i].Mode == ratelimit.Spill {
						return m.Take(ctx, charges, results)
					}
				}
				for i := range charges {
					if err := m.Take(ctx, charges[i:i+1], results[i:i+1]); err != nil {
						return err
					}
				}
				return nil
			}},
			[]string{"all charges are made or none", "Observe and Force never deny", "single and triple", "known answers/several", "random traces"},
		},
		"reads, thinks, then writes": {
			broken{take: func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
				looks := slices.Clone(charges)
				for i := range looks {
					looks[i].Cost = 0
				}
				if err := m.Take(ctx, looks, results); err != nil {
					return err
				}
				for i, c := range charges {
					if c.Cost > results[i].Remaining || len(charges) > 1 {
						return m.Take(ctx, charges, results)
					}
				}
				runtime.Gosched() // the others read meanwhile
				for i := range looks {
					looks[i].Cost, looks[i].Mode = charges[i].Cost, ratelimit.Force
				}
				return m.Take(ctx, looks, results)
			}},
			[]string{"500 callers of one key are admitted exactly/"},
		},
		"refunds nothing": {
			broken{adjust: func(m *ratelimit.Memory, adjustments []ratelimit.Adjustment) error {
				for i := range adjustments {
					if a := &adjustments[i]; a.Op == ratelimit.Refund {
						a.Receipt.Units = max(0, a.Receipt.Units-a.Units)
						continue
					}
					if err := m.Adjust(ctx, adjustments[i:i+1]); err != nil {
						return err
					}
				}
				return nil
			}},
			[]string{"a refund gives back", "concurrent callers/that charge", "leases/", "known answers/", "random traces"},
		},
		"refunds without the receipt": {
			broken{adjust: func(m *ratelimit.Memory, adjustments []ratelimit.Adjustment) error {
				for i := range adjustments {
					if a := &adjustments[i]; a.Op == ratelimit.Refund {
						now := []ratelimit.Result{{}}
						look := []ratelimit.Charge{{Space: a.Space, Key: a.Key, Limit: a.Limit}}
						if err := m.Take(ctx, look, now); err != nil {
							return err
						}
						a.Receipt.At = now[0].Receipt.At
					}
				}
				return m.Adjust(ctx, adjustments)
			}},
			[]string{"a refund/of a fixed window", "a refund/of a sliding counter", "a refund/of a log", "leases/", "random traces"},
		},
		"makes what is sound of a wrong Take": {
			broken{take: func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
				err := m.Take(ctx, charges, results)
				for i := 0; err != nil && i < len(charges); i++ {
					_ = m.Take(ctx, charges[i:i+1], results[i:i+1]) // err stands for all
				}
				return err
			}},
			[]string{"a wrong cost or limit", "a mistake/is a space"},
		},
		"folds the case of keys": {
			broken{take: func(m *ratelimit.Memory, charges []ratelimit.Charge, results []ratelimit.Result) error {
				return m.Take(ctx, lowered(charges), results)
			}},
			[]string{"keys/that differ are counted apart"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			failures := storetest.Failures(t, storetest.Harness{
				Name: "broken",
				Open: func(_ testing.TB, now func() time.Time) ratelimit.Store {
					b := test.store
					b.Memory = ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now})
					return b
				},
			}, test.caught...)
			for _, want := range test.caught {
				if !caught(failures, want) {
					t.Errorf("no check %q failed", want)
				}
			}
			for name, text := range failures {
				if strings.TrimSpace(text) == "" {
					t.Errorf("%s failed without a word", name)
				}
			}
		})
	}
}

// lowered returns the charges with keys in lower case.
func lowered(charges []ratelimit.Charge) []ratelimit.Charge {
	out := slices.Clone(charges)
	for i := range out {
		out[i].Key = []byte(strings.ToLower(string(out[i].Key)))
	}
	return out
}

func caught(failures map[string]string, start string) bool {
	for name := range failures {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}
