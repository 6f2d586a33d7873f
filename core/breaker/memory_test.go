package breaker_test

import (
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/storetest"
	"go.uber.org/goleak"
)

// Nothing is left when the tests are over: no breaker keeps a goroutine.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNothingIsLeft(t *testing.T) {
	well := newBench(t, breaker.Config{Timeout: time.Minute})
	for range 100 {
		if _, err := well.take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, breaker.Config{Timeout: ms})
	b.open()
	for deadline := time.Now().Add(10 * time.Second); b.Stats().Behind > 0; time.Sleep(ms) {
		if time.Now().After(deadline) {
			t.Fatal("the call that was left behind did not end with its context")
		}
	}
	goleak.VerifyNone(t)
}

// The contract of stores holds through a breaker.
func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Name: "breaker over memory",
		Open: func(t testing.TB, now func() time.Time) ratelimit.Store {
			s, err := breaker.New(ratelimit.NewMemory(ratelimit.MemoryConfig{Now: now}), breaker.Config{
				Timeout: time.Minute, // the machine may be busy
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}
