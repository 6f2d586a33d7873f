//go:build !race

// The race detector makes sync.Pool drop things at random, which allocates.

package echolimit_test

import (
	"testing"

	"github.com/weirhq/ratelimit/adapters/adaptertest"
)

// The second is the handler around the next, which echo has made for each request.
func TestMiddlewareAllocs(t *testing.T) { adaptertest.Allocs(t, 2, 3, build) }
