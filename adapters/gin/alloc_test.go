//go:build !race

// The race detector makes sync.Pool drop things at random, which allocates.

package ginlimit_test

import (
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
)

func TestMiddlewareAllocs(t *testing.T) { adaptertest.Allocs(t, 1, 2, build) }
