package main

import (
	"testing"

	"github.com/weirhq/ratelimit/examples/internal/smoke"
)

func TestMain(m *testing.M) { smoke.Main(m, main) }

func TestApp(t *testing.T) { smoke.Test(t) }
