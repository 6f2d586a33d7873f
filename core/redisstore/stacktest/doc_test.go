// Package stacktest_test tests what users put together: a limiter on a cache of denials
// on a breaker on a store in Redis, against real servers that get into trouble.
package stacktest_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
