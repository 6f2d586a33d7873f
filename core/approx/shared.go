package approx

import (
	"context"
	"fmt"
	"runtime/debug"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// ask makes a Take of the shared store. A panic is an error, since exchanges are made on
// goroutines that have no caller to recover it.
func (s *Store) ask(ctx context.Context, charges []ratelimit.Charge, results []ratelimit.Result) (err error) {
	defer caught(&err)
	return s.shared.Take(ctx, charges, results)
}

// correct makes an Adjust of the shared store, as ask does.
func (s *Store) correct(ctx context.Context, adjustments []ratelimit.Adjustment) (err error) {
	defer caught(&err)
	return s.shared.Adjust(ctx, adjustments)
}

// caught is deferred.
func caught(err *error) {
	if value := recover(); value != nil {
		*err = &storePanic{value, debug.Stack()}
	}
}

// storePanic is a panic of the shared store's. It brings its stack, which nobody will
// print.
type storePanic struct {
	value any
	stack []byte
}

func (p *storePanic) Error() string {
	return fmt.Sprintf("ratelimit: the shared store panicked: %v\n\n%s", p.value, p.stack)
}

func (p *storePanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}
