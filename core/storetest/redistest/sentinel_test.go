package redistest

import (
	"fmt"
	"testing"
)

func TestSentinel(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	equal(t, "sentinels", len(s.Addrs()), 3)
	for _, addr := range s.Addrs() {
		v, err := call(addr, callTimeout, "SENTINEL", "CKQUORUM", s.MasterName())
		equal(t, "the quorum", answer(v, err), "OK 3 usable Sentinels. Quorum and failover authorization can be reached")
	}

	old := s.Master()
	equal(t, "SET", answer(old.Do("SET", "a", "1")), "OK")

	master := s.Failover()
	if master == old {
		t.Fatal("the master was not replaced")
	}
	equal(t, "the master", s.Master(), master)
	refused(t, old.Addr())
	equal(t, "GET", answer(master.Do("GET", "a")), "1")
	equal(t, "SET", answer(master.Do("SET", "a", "2")), "OK")

	old.Restart()
	await(t, "the old master to be a replica", func() error {
		if v := answer(old.Do("GET", "a")); v != "2" {
			return fmt.Errorf("GET a: %s", v)
		}
		return nil
	})
}

// A master that hangs is replaced like one that is dead.
func TestSentinelOfAMasterThatHangs(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	old := s.Master()
	old.Stop()
	master := s.NextMaster(old)
	equal(t, "SET", answer(master.Do("SET", "a", "1")), "OK")
	old.Resume()
	await(t, "the old master to be a replica", old.linked)
	equal(t, "the master", s.Master(), master)
}
