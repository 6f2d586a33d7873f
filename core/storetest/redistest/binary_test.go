package redistest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNoServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	equal(t, "Available", Available(), false)

	t.Setenv(Require, "")
	r := &recorder{TB: t}
	r.run(func() { Start(r) })
	if !r.skipped || r.failed || !strings.Contains(r.text(), Require) {
		t.Errorf("not required: skipped %v, failed %v: %s", r.skipped, r.failed, r.text())
	}

	t.Setenv(Require, "1")
	r = &recorder{TB: t}
	r.run(func() { Start(r) })
	if r.skipped || !r.failed {
		t.Errorf("required: skipped %v, failed %v: %s", r.skipped, r.failed, r.text())
	}
}

func TestBinary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, name := range []string{"valkey-server", "redis-server"} { // each goes before the one above
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		equal(t, "the server", binary(), path)
	}
	equal(t, "Available", Available(), true)
}
