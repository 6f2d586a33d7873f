package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const masterName = "mymaster"

// Sentinel is a master and its replica, watched by three sentinels. The first finds
// a master dead that was silent for a second, and needs the vote of another to
// replace it, which takes one more.
type Sentinel struct {
	t         testing.TB
	servers   []*Server // a master and its replicas
	sentinels []*Server
}

// StartSentinel runs the servers until the end of the test. It returns when a
// fail-over could begin.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	master := Start(t)
	replica := Start(t, "--replicaof", "127.0.0.1", strconv.Itoa(master.port))
	s := &Sentinel{t: t, servers: []*Server{master, replica}}
	for i := range 3 {
		s.sentinels = append(s.sentinels, startSentinel(t, master.port, time.Duration(1+i)*time.Second))
	}
	await(t, "the replica to be fed", func() error { return errors.Join(replica.linked(), master.feeds(1, 0)) })
	await(t, "the sentinels to know each other and the replica", func() error {
		return s.each(func(sentinel *Server) error {
			state, err := pairs(sentinel.Do("SENTINEL", "MASTER", masterName))
			if err == nil && (state["num-slaves"] != "1" || state["num-other-sentinels"] != "2" || state["flags"] != "master") {
				err = fmt.Errorf("%s says %v", sentinel.Addr(), state)
			}
			return err
		})
	})
	return s
}

// startSentinel runs one that watches a master, and finds that dead after a while.
// That while differs: sentinels that find it dead at once want to lead at once, and
// begin anew seconds later. They look more often than usual, so that tests wait less;
// but a replica that they know no news of for five periods of PING is not promoted,
// and while its master is down they ask for news once a second.
func startSentinel(t testing.TB, port int, silence time.Duration) *Server {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf(`sentinel monitor %[1]s 127.0.0.1 %[2]d 1
sentinel down-after-milliseconds %[1]s %[3]d
sentinel failover-timeout %[1]s 3000
`, masterName, port, silence.Milliseconds())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(&Server{t: t, dir: dir, config: config})
	s.must("SENTINEL", "DEBUG", "INFO-PERIOD", "200", "PING-PERIOD", "500", "ASK-PERIOD", "100", "PUBLISH-PERIOD", "200",
		"MIN-LINK-RECONNECT-PERIOD", "1000")
	return s
}

// Addrs returns the sentinels' addresses, as a client wants them.
func (s *Sentinel) Addrs() []string { return addrs(s.sentinels) }

// MasterName returns the name that the sentinels know the master by.
func (s *Sentinel) MasterName() string { return masterName }

// Master returns the server that the sentinels call the master.
func (s *Sentinel) Master() *Server {
	s.t.Helper()
	var master *Server
	await(s.t, "the sentinels to agree on a master", func() (err error) {
		master, err = s.agreed()
		return err
	})
	return master
}

// Failover kills the master, and returns its successor as NextMaster does. The
// successor has what was written before the call; of later writes, some are lost.
func (s *Sentinel) Failover() *Server {
	s.t.Helper()
	old := s.Master()
	old.settle()
	old.Kill()
	return s.NextMaster(old)
}

// NextMaster waits until the sentinels agree on another master than the old one,
// which was killed or stopped, and until that takes writes. It returns the new
// master. Restart or Resume makes the old one its replica, in a while.
func (s *Sentinel) NextMaster(old *Server) *Server {
	s.t.Helper()
	var master *Server
	await(s.t, "a master other than "+old.Addr(), func() (err error) {
		if master, err = s.agreed(); err != nil {
			return err
		}
		if master == old {
			return errors.New("the sentinels still name it")
		}
		info, err := infoOf(master.Addr(), "replication")
		if err == nil && info["role"] != "master" {
			err = fmt.Errorf("%s is %s", master.Addr(), info["role"])
		}
		return err
	})
	return master
}

// agreed returns the server that all sentinels name.
func (s *Sentinel) agreed() (*Server, error) {
	named := map[string]bool{}
	err := s.each(func(sentinel *Server) error {
		v, err := sentinel.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
		if err != nil {
			return err
		}
		named[fmt.Sprint(v)] = true // [host port]
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(named) == 1 {
		for _, server := range s.servers {
			if named[fmt.Sprintf("[127.0.0.1 %d]", server.port)] {
				return server, nil
			}
		}
	}
	return nil, fmt.Errorf("they name %v", named)
}

// each calls f for every sentinel.
func (s *Sentinel) each(f func(*Server) error) error {
	var failed error
	for _, sentinel := range s.sentinels {
		failed = errors.Join(failed, f(sentinel))
	}
	return failed
}

func addrs(servers []*Server) []string {
	out := make([]string, len(servers))
	for i, s := range servers {
		out[i] = s.Addr()
	}
	return out
}

// pairs returns a list of names and values as a map.
func pairs(v any, err error) (map[string]string, error) {
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("redistest: %v is no list", v)
	}
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	return m, nil
}
