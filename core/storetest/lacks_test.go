package storetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/storetest"
	"github.com/weirhq/ratelimit/core/storetest/internal/model"
)

// modest holds little, and returns an error for all else.
type modest struct{ *model.Store }

var errLacking = errors.New("the store lacks it")

func (m modest) Open(s *ratelimit.Space) error {
	if s.Penalty != nil || s.Lease || len(s.Limits) > 0 && s.Limits[0].Algorithm == ratelimit.GCRA {
		return errLacking
	}
	return m.Store.Open(s)
}

func (m modest) Take(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) error {
	for _, c := range charges {
		if c.Mode == ratelimit.Spill || string(c.Key) != string(charges[0].Key) {
			return errLacking
		}
	}
	return m.Store.Take(ctx, charges, results)
}

// TestLacks holds that the suite asks a store for nothing that it says it lacks.
func TestLacks(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Name:        "modest",
		Open:        func(_ testing.TB, now func() time.Time) ratelimit.Store { return modest{model.New(now, 500)} },
		MaxLogQuota: 500,
		Lacks: storetest.Lacks{
			Algorithms: []ratelimit.Algorithm{ratelimit.GCRA},
			Leases:     true, Penalties: true, Spills: true, AcrossSlots: true,
		},
	})
}
