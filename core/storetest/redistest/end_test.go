package redistest

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestEndsWithTheTest(t *testing.T) {
	t.Parallel()
	var s *Server
	var p *Proxy
	t.Run("that passes", func(t *testing.T) {
		s = Start(t)
		p = NewProxy(t, s.Addr())
		equal(t, "PING", connect(t, p.Addr()).do("PING"), "PONG")
	})
	refused(t, s.Addr())
	refused(t, p.Addr())
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its directory is left: %v", err)
	}
}

func TestLogIsShownOnFailure(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		r := &recorder{TB: t}
		r.run(func() {
			Start(r)
			if fails {
				r.Errorf("it fails")
			}
		})
		if shown := strings.Contains(r.text(), "Ready to accept connections"); shown != fails {
			t.Errorf("failed %v, shown %v: %s", fails, shown, r.text())
		}
	}
}

const helper = "REDISTEST_HELPER"

// A server ends with a process that is killed, which no cleanup sees. Linux alone
// can do that.
func TestEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	if processAttr() == nil {
		t.Skip("only on Linux")
	}
	if testing.Short() {
		t.Skip("an emulator that this may run under cannot run the test's program again")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelper$", "-test.v")
	cmd.Env = append(os.Environ(), helper+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	lines := bufio.NewScanner(out)
	for addr == "" && lines.Scan() {
		_, addr, _ = strings.Cut(lines.Text(), "the helper's server is at ")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if addr == "" {
		t.Fatal("the helper started no server")
	}
	await(t, "the server at "+addr+" to end", func() error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return nil
		}
		_ = conn.Close()
		return errors.New("it accepts a connection")
	})
}

// TestHelper is the process that is killed.
func TestHelper(t *testing.T) {
	if os.Getenv(helper) == "" {
		t.Skip("not a helper")
	}
	s := Start(t)
	t.Logf("the helper's server is at %s", s.Addr())
	<-t.Context().Done() // until it is killed
}
