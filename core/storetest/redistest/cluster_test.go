package redistest

import (
	"fmt"
	"strconv"
	"testing"
)

func TestKeySlot(t *testing.T) {
	t.Parallel()
	for key, slot := range map[string]int{
		"":                   0,
		"123456789":          0x31c3, // of the cluster specification
		"{123456789}":        0x31c3,
		"a{123456789}b":      0x31c3,
		"{123456789}{other}": 0x31c3,
		"}{123456789}":       0x31c3,
	} {
		equal(t, key, KeySlot(key), slot)
	}
	s := Start(t, "--cluster-enabled", "yes")
	for _, key := range []string{"", "a", "{}", "{}a", "{", "}", "a{b", "{a", "{{a}}b", "a{}{b}c", "\x00\xff{\n}", "{a}{b}", "é"} {
		equal(t, strconv.Quote(key), fmt.Sprint(KeySlot(key)), answer(s.Do("CLUSTER", "KEYSLOT", key)))
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, ClusterConfig{})
	equal(t, "nodes", c.Nodes(), 3)
	for i := range 3 {
		equal(t, "the address", c.Addrs()[i], c.Node(i).Addr())
	}
	for slot, owner := range map[int]int{0: 0, 5460: 0, 5461: 1, 10921: 1, 10922: 2, 16383: 2} {
		equal(t, fmt.Sprintf("the owner of slot %d", slot), c.Owner(slot), owner)
	}
	slot := KeySlot("a")
	owner := c.Owner(slot)
	equal(t, "SET at its owner", answer(c.Node(owner).Do("SET", "a", "1")), "OK")
	moved := fmt.Sprintf("MOVED %d %s", slot, c.Addrs()[owner])
	equal(t, "SET at another", answer(c.Node((owner+1)%3).Do("SET", "a", "1")), moved)

	c.Node(owner).Restart() // with its slots, without its keys
	await(t, "the cluster to be whole", c.whole)
	equal(t, "GET", answer(c.Node(owner).Do("GET", "a")), "<nil>")
}

func TestClusterOfOne(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, ClusterConfig{Masters: 1, Args: []string{"--maxmemory", "12345678"}})
	equal(t, "SET", answer(c.Node(0).Do("SET", "a", "1")), "OK")
	equal(t, "an argument", answer(c.Node(0).Do("CONFIG", "GET", "maxmemory")), "[maxmemory 12345678]")
}

func TestMigrateSlot(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, ClusterConfig{})
	slot := KeySlot("{a}")
	from := c.Owner(slot)
	to := (from + 1) % c.Nodes()
	source, target := c.Node(from), c.Node(to)
	keys := []string{"{a}1", "{a}2", "{a}3"}
	for _, key := range keys {
		equal(t, "SET", answer(source.Do("SET", key, key)), "OK")
	}

	moved := fmt.Sprintf("MOVED %d %s", slot, target.Addr())
	ask := fmt.Sprintf("ASK %d %s", slot, target.Addr())
	var trace []int // for each step, how many keys have moved
	c.MigrateSlot(slot, from, to, func() {
		n := 0
		for _, key := range keys {
			switch v := answer(source.Do("GET", key)); v {
			case key:
			case ask, moved:
				equal(t, "GET after ASKING", asking(t, target, "GET", key), key)
				n++
			default:
				t.Errorf("GET %s: %s", key, v)
			}
		}
		trace = append(trace, n)
	})
	equal(t, "the trace", fmt.Sprint(trace), "[0 1 2 3 3]")
	equal(t, "the owner", c.Owner(slot), to)
	for _, key := range keys {
		equal(t, "GET at the old owner", answer(source.Do("GET", key)), moved)
		equal(t, "GET at the new owner", answer(target.Do("GET", key)), key)
	}

	c.MigrateSlot(slot, to, from, nil)
	equal(t, "the owner", c.Owner(slot), from)
}

// asking sends a command as a client does that was told to ask there.
func asking(t *testing.T, s *Server, args ...string) string {
	t.Helper()
	c := connect(t, s.Addr())
	equal(t, "ASKING", c.do("ASKING"), "OK")
	return c.do(args...)
}

func TestClusterFailover(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, ClusterConfig{Replicas: 1})
	equal(t, "nodes", c.Nodes(), 6)
	slot := KeySlot("a")
	old := c.Owner(slot)
	equal(t, "SET", answer(c.Node(old).Do("SET", "a", "1")), "OK")

	owner := c.Failover(slot)
	equal(t, "the new owner", owner, old+3) // its replica
	equal(t, "GET", answer(c.Node(owner).Do("GET", "a")), "1")

	c.Node(old).Restart()
	await(t, "the old owner to be a replica", c.Node(old).linked)

	c.Node(owner).Stop()
	equal(t, "the owner after that hangs", c.NextOwner(slot, owner), old)
	equal(t, "SET", answer(c.Node(old).Do("SET", "a", "2")), "OK")
}

func TestProxiedCluster(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, ClusterConfig{Replicas: 1, Proxied: true})
	slot := KeySlot("a")
	owner := c.Owner(slot)
	for i, addr := range c.Addrs() {
		equal(t, "the address", addr, c.Proxy(i).Addr())
		if addr == c.Node(i).Addr() {
			t.Errorf("node %d is its own proxy", i)
		}
	}
	moved := fmt.Sprintf("MOVED %d %s", slot, c.Addrs()[owner])
	equal(t, "SET at another", connect(t, c.Addrs()[(owner+1)%3]).do("SET", "a", "1"), moved)
	equal(t, "SET", connect(t, c.Addrs()[owner]).do("SET", "a", "1"), "OK")

	// A proxy that lets nothing through is no node that is down.
	c.Proxy(owner).BlackHole()
	connect(t, c.Addrs()[owner]).send("SET", "a", "2")
	equal(t, "the owner", c.Owner(slot), owner)
	equal(t, "GET", answer(c.Node(owner).Do("GET", "a")), "1")
	c.Proxy(owner).Pass()

	replica := c.Node(owner + 3)
	client := connect(t, c.Addrs()[owner+3])
	equal(t, "PING", client.do("PING"), "PONG")
	replica.Kill()
	client.gone("")
	refused(t, c.Addrs()[owner+3])
	replica.Restart()
	equal(t, "PING", connect(t, c.Addrs()[owner+3]).do("PING"), "PONG")

	c.MigrateSlot(slot, owner, (owner+1)%3, nil)
	moved = fmt.Sprintf("MOVED %d %s", slot, c.Addrs()[(owner+1)%3])
	equal(t, "GET at the old owner", connect(t, c.Addrs()[owner]).do("GET", "a"), moved)
}
