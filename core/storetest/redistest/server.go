package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Server is a Redis or Valkey server of a test. It listens on 127.0.0.1, has no
// password and saves nothing. Its methods may be called from several goroutines.
type Server struct {
	t       testing.TB
	dir     string   // that it runs in
	config  string   // its file, for a sentinel
	args    []string // beside those that all servers get
	path    string   // of the program
	port    int
	version string
	front   *Proxy // of a cluster's node, or nil

	mu      sync.Mutex
	process *process
}

// Start runs a server until the end of the test, with further arguments of its
// command line: "--maxmemory", "1mb". It skips or ends the test where there is no
// server to run, as the package's documentation says.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(&Server{t: t, dir: t.TempDir(), args: args})
}

// start runs a server of which t, dir, config and args are set.
func start(s *Server) *Server {
	t := s.t
	t.Helper()
	s.path = need(t)
	t.Cleanup(s.end)
	var err error
	for range 5 { // another process may have taken the port
		if s.port, err = freePort(); err != nil {
			break
		}
		if err = s.run(); err == nil {
			t.Logf("redistest: %s, version %s, at %s", s.path, s.version, s.Addr())
			return s
		}
	}
	t.Fatalf("redistest: %s does not start: %v", s.path, err)
	return nil
}

// end ends the process, and shows what it logged where the test failed.
func (s *Server) end() {
	s.Kill()
	if !s.t.Failed() {
		return
	}
	const most = 16 << 10
	log, err := os.ReadFile(s.logFile())
	if err != nil {
		log = []byte(err.Error())
	}
	s.t.Logf("redistest: the last that the server at %s logged:\n%s", s.Addr(), log[max(0, len(log)-most):])
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// Addr returns host and port, as clients want them.
func (s *Server) Addr() string { return address(s.port) }

// URL returns the address as a URL, redis://127.0.0.1:6379.
func (s *Server) URL() string { return "redis://" + s.Addr() }

// Version returns that of the server: "7.0.15" for Redis, "valkey 8.1.0" for
// Valkey.
func (s *Server) Version() string { return s.version }

// Do sends a command, and returns the answer: a string, an int64, nil, or a []any
// of these and of [Error] values. It fails after ten seconds without an answer. The
// error is an [Error] where the server returned one. Each command has a connection
// of its own, so none can build on another as EXEC does on MULTI.
func (s *Server) Do(args ...string) (any, error) { return call(s.Addr(), callTimeout, args...) }

// Kill ends the server at once, as a crash does (SIGKILL), and returns when it is
// gone. Clients find their connections closed, and new ones refused. A server
// that does not run stays as it is.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.follow(true)
		s.process.kill()
		s.process = nil
	}
}

// follow tells the proxy that stands before the server.
func (s *Server) follow(down bool) {
	if s.front != nil {
		s.front.follow(down)
	}
}

// runs reports whether the server was neither killed nor stopped.
func (s *Server) runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && !s.process.halted
}

// Restart kills the server if it runs, and starts it anew on the same port with
// the same arguments. It has lost all keys and scripts; a node of a cluster keeps
// its identity and its slots.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	await(s.t, "the server to start again at "+s.Addr(), s.run)
}

// Stop halts the server (SIGSTOP): it still accepts connections and takes what is
// sent, but answers nothing until Resume. It returns when the server has halted.
func (s *Server) Stop() {
	s.t.Helper()
	s.signal("Stop", (*process).stop)
	// The signal is under way. What answers after it would make a test uncertain.
	await(s.t, "the server to halt", func() error {
		if _, err := call(s.Addr(), 50*time.Millisecond, "PING"); err == nil {
			return fmt.Errorf("%s answers", s.Addr())
		}
		return nil
	})
}

// Resume ends Stop. The server then does what it was sent meanwhile.
func (s *Server) Resume() { s.t.Helper(); s.signal("Resume", (*process).resume) }

func (s *Server) signal(name string, f func(*process) error) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		s.t.Errorf("redistest: %s of a server that does not run", name)
	} else if err := f(s.process); err != nil {
		s.t.Errorf("redistest: %s: %v", name, err)
	}
}

// run starts the process, and returns when it answers.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	args := []string{
		"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--protected-mode", "no",
		"--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0", "--dir", s.dir,
	}
	if s.config != "" {
		args = slices.Insert(args, 0, s.config, "--sentinel")
	}
	p, err := newProcess(s.path, s.logFile(), append(args, s.args...))
	if err != nil {
		return err
	}
	info, err := p.ready(s.Addr())
	if err != nil {
		p.kill()
		return err
	}
	s.process = p
	if s.version == "" {
		s.version = info["redis_version"]
		if v := info["valkey_version"]; v != "" {
			s.version = "valkey " + v
		}
	}
	s.follow(false)
	return nil
}
