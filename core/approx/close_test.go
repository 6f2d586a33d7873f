package approx_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/approx"
)

// hung is a store that does not answer.
type hung struct{}

func (hung) Open(*ratelimit.Space) error { return nil }

func (hung) Take(ctx context.Context, _ []ratelimit.Charge, _ []ratelimit.Result) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hung) Adjust(ctx context.Context, _ []ratelimit.Adjustment) error {
	<-ctx.Done()
	return ctx.Err()
}

// Close waits for the exchange under way and for the last one, whatever the ticker says.
func TestCloseDuringAnOutage(t *testing.T) {
	for range 20 { // a choice between two channels is made at random
		synctest.Test(t, func(t *testing.T) {
			s, err := approx.New(hung{}, approx.Config{Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			space := ratelimit.NewSpace("api", ratelimit.PerMinute(10))
			if err := s.Open(space); err != nil {
				t.Fatal(err)
			}
			charge := []ratelimit.Charge{{Space: space, Key: []byte("ann"), Limit: space.Limits[0], Cost: 1}}
			if err := s.Take(t.Context(), charge, make([]ratelimit.Result, 1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
			start := time.Now()
			if err := s.Close(); err == nil {
				t.Error("want the error of the last exchange")
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("it took %v, want at most two exchanges", took)
			}
		})
	}
}
