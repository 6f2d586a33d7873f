package redistest

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestStart(t *testing.T) {
	t.Parallel()
	s := Start(t, "--maxmemory", "12345678")
	equal(t, "GET of a key that is not there", answer(s.Do("GET", "a")), "<nil>")
	equal(t, "SET", answer(s.Do("SET", "a", "1\r\n2")), "OK")
	equal(t, "GET", answer(s.Do("GET", "a")), "1\r\n2")
	equal(t, "APPEND", answer(s.Do("APPEND", "a", "3")), "5")
	equal(t, "an array", answer(s.Do("MGET", "a", "b")), "[1\r\n23 <nil>]")
	equal(t, "an argument", answer(s.Do("CONFIG", "GET", "maxmemory")), "[maxmemory 12345678]")
	equal(t, "the URL", s.URL(), "redis://"+s.Addr())
	_, err := s.Do("LPUSH", "a", "b")
	if e, ok := errors.AsType[Error](err); !ok || !strings.HasPrefix(string(e), "WRONGTYPE ") {
		t.Errorf("a wrong command: %v", err)
	}
	if s.Version() == "" {
		t.Error("no version")
	}
}

func TestServerDoesNotStart(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	r.run(func() { Start(r, "--no-such-setting", "1") })
	if !r.failed || !strings.Contains(r.text(), "does not start") || !strings.Contains(r.text(), "no-such-setting") {
		t.Errorf("want a failure that shows what the server said, got %v: %s", r.failed, r.text())
	}
}

func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	s := Start(t)
	c := connect(t, s.Addr())
	equal(t, "SET", c.do("SET", "a", "1"), "OK")
	s.Kill()
	c.gone("")
	refused(t, s.Addr())
	if v, err := s.Do("PING"); err == nil {
		t.Errorf("a killed server answers %v", v)
	}
	s.Kill() // changes nothing

	for range 3 { // started when it is down, and when it runs
		addr := s.Addr()
		s.Restart()
		equal(t, "the address", s.Addr(), addr)
		equal(t, "GET", answer(s.Do("GET", "a")), "<nil>")
		equal(t, "SET", answer(s.Do("SET", "a", "2")), "OK")
	}
}

func TestRestartWaitsForItsPort(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Kill()
	l, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	free := time.AfterFunc(100*time.Millisecond, func() { _ = l.Close() })
	defer free.Stop()
	s.Restart()
	equal(t, "PING", answer(s.Do("PING")), "PONG")
}

// The port of another's server is no place to start at, though it answers.
func TestPortOfAnother(t *testing.T) {
	t.Parallel()
	s := Start(t)
	other := &Server{t: t, dir: t.TempDir(), path: s.path, port: s.port}
	if err := other.run(); err == nil {
		other.Kill()
		t.Error("it started at the port of another")
	}
	equal(t, "PING", answer(s.Do("PING")), "PONG")
}

func TestStopAndResume(t *testing.T) {
	t.Parallel()
	s := Start(t)
	c := connect(t, s.Addr())
	s.Stop()
	c.send("INCR", "a")
	c.silent()
	other := connect(t, s.Addr()) // accepted all the same
	other.send("INCR", "a")
	other.silent()
	s.Resume()
	replies := map[string]bool{c.receive(): true, other.receive(): true}
	if !replies["1"] || !replies["2"] {
		t.Errorf("the replies are %v, want 1 and 2", replies)
	}

	s.Stop()
	s.Restart() // of a server that hangs
	equal(t, "GET", answer(s.Do("GET", "a")), "<nil>")
}

func TestStopOfNothing(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	s := Start(t)
	s.Kill()
	s.t = r
	s.Resume()
	if !r.failed {
		t.Error("a server that does not run was resumed")
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	s := Start(t)
	equal(t, "SET", answer(s.Do("SET", "a", "b")), "OK")
	s.ResetStats()
	for range 3 {
		_, _ = s.Do("INCR", "a") // fails
		_, _ = s.Do("INCR", "n")
	}
	_, _ = s.Do("GET")
	got := s.Commands()
	incr, get := got["incr"], got["get"]
	equal(t, "calls", incr.Calls, 6)
	equal(t, "failed", incr.Failed, 3)
	equal(t, "GET without a key", get, CommandStats{Rejected: 1})
	equal(t, "what was done before", got["set"], CommandStats{})
	if incr.Time <= 0 || incr.Time > time.Minute {
		t.Errorf("6 INCR took %v", incr.Time)
	}
	s.ResetStats()
	equal(t, "calls", s.Commands()["incr"].Calls, 0)
}

func TestNetBytes(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.ResetStats()
	equal(t, "SET", answer(s.Do("SET", "a", strings.Repeat("x", 100_000))), "OK")
	in, out := s.NetBytes()
	if in < 100_000 || in > 110_000 || out > 10_000 {
		t.Errorf("SET of 100,000 bytes: %d in, %d out", in, out)
	}
	_, _ = s.Do("GET", "a")
	if _, more := s.NetBytes(); more < out+100_000 || more > out+110_000 {
		t.Errorf("GET of 100,000 bytes: %d out, and %d before", more, out)
	}
}
