package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ClusterConfig says what a cluster is made of. The zero value is three masters
// that clients talk to directly.
type ClusterConfig struct {
	Masters  int  // 0 means 3, with which a cluster can fail over
	Replicas int  // of each master
	Proxied  bool // each node announces a proxy's address as its own

	// Args are further arguments of each server, as of Start:
	// "--cluster-require-full-coverage", "no".
	Args []string
}

// Cluster is a cluster whose masters share the slots evenly, in the order of the
// nodes. A node that does not answer counts as failed after a second.
type Cluster struct {
	t       testing.TB
	masters int
	nodes   []*Server
	proxies []*Proxy // none, or one each node
	ids     []string // of the nodes
}

// StartCluster runs the servers until the end of the test, the masters first and
// then their replicas. It returns when every node finds the cluster whole.
func StartCluster(t testing.TB, config ClusterConfig) *Cluster {
	t.Helper()
	if config.Masters == 0 {
		config.Masters = 3
	}
	if config.Masters < 0 || config.Replicas < 0 {
		t.Fatalf("redistest: a cluster of %d masters with %d replicas", config.Masters, config.Replicas)
	}
	c := &Cluster{t: t, masters: config.Masters}
	for range config.Masters * (1 + config.Replicas) {
		c.start(config)
	}
	c.assign()
	for i, node := range c.nodes {
		for _, other := range c.nodes[:i] {
			node.must("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(other.port))
		}
	}
	c.replicate(config.Replicas)
	await(t, "the cluster to be whole", c.whole)
	return c
}

// start runs one more node.
func (c *Cluster) start(config ClusterConfig) {
	c.t.Helper()
	args := []string{
		"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
		"--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
		"--cluster-announce-ip", "127.0.0.1",
	}
	var proxy *Proxy
	if config.Proxied {
		proxy = newProxy(c.t)
		args = append(args, "--cluster-announce-port", proxy.port())
	}
	node := start(&Server{t: c.t, dir: c.t.TempDir(), args: append(args, config.Args...)})
	if proxy != nil {
		proxy.serve(node.Addr())
		c.proxies = append(c.proxies, proxy)
		node.front = proxy
	}
	c.nodes = append(c.nodes, node)
	c.ids = append(c.ids, fmt.Sprint(node.must("CLUSTER", "MYID")))
}

// assign gives each master its slots, and a rank of its own, without which they
// would quarrel for a while.
func (c *Cluster) assign() {
	c.t.Helper()
	for i, node := range c.nodes {
		node.must("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < c.masters {
			first, end := i*Slots/c.masters, (i+1)*Slots/c.masters
			node.must("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(end-1))
		}
	}
}

// replicate gives each replica its master, as soon as it knows that.
func (c *Cluster) replicate(replicas int) {
	c.t.Helper()
	for i, node := range c.nodes[c.masters:] {
		await(c.t, "a replica to know its master", func() error {
			_, err := node.Do("CLUSTER", "REPLICATE", c.ids[i%c.masters])
			return err
		})
	}
	for i, node := range c.nodes[c.masters:] {
		master := c.nodes[i%c.masters]
		await(c.t, "a replica to be fed", func() error { return errors.Join(node.linked(), master.feeds(replicas, 0)) })
	}
}

// whole returns nil where every node that runs has heard of every other and serves
// all slots.
func (c *Cluster) whole() error {
	var failed error
	for _, node := range c.running() {
		failed = errors.Join(failed, c.healthy(node))
	}
	return failed
}

func (c *Cluster) healthy(node *Server) error {
	v, err := node.Do("CLUSTER", "INFO")
	if err != nil {
		return err
	}
	info := fields(fmt.Sprint(v))
	if info["cluster_state"] != "ok" || info["cluster_slots_ok"] != strconv.Itoa(Slots) ||
		info["cluster_known_nodes"] != strconv.Itoa(len(c.nodes)) {
		return fmt.Errorf("%s says %v", node.Addr(), info)
	}
	view, err := node.Do("CLUSTER", "NODES")
	if err == nil && strings.Contains(fmt.Sprint(view), "handshake") {
		err = fmt.Errorf("%s shakes hands: %v", node.Addr(), view)
	}
	return err
}

// running returns the nodes that were neither killed nor stopped.
func (c *Cluster) running() []*Server {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(s *Server) bool { return !s.runs() })
}

// Addrs returns the nodes' addresses as a client should know them: those of the
// proxies where there are any.
func (c *Cluster) Addrs() []string {
	if c.proxies == nil {
		return addrs(c.nodes)
	}
	out := make([]string, len(c.proxies))
	for i, p := range c.proxies {
		out[i] = p.Addr()
	}
	return out
}

// Nodes returns how many there are, masters and replicas.
func (c *Cluster) Nodes() int { return len(c.nodes) }

// Node returns a node, from 0. Its address is its own, whatever it announces.
func (c *Cluster) Node(i int) *Server { return c.nodes[i] }

// Proxy returns that of a node; the cluster must be Proxied. It carries what clients
// send, and replicas' copying from that node; not what nodes tell each other.
func (c *Cluster) Proxy(i int) *Proxy { return c.proxies[i] }

// Owner returns the node that serves a slot, as the nodes that run agree. It
// waits until they do.
func (c *Cluster) Owner(slot int) int {
	c.t.Helper()
	var owner int
	await(c.t, fmt.Sprintf("the cluster to agree on slot %d", slot), func() (err error) {
		owner, err = c.agreed(slot)
		return err
	})
	return owner
}

// Failover kills the node that serves a slot, and returns its successor as
// NextOwner does. That node needs a replica, and the cluster three masters. The
// successor has what was written before the call; of later writes, some are lost.
func (c *Cluster) Failover(slot int) int {
	c.t.Helper()
	old := c.Owner(slot)
	c.nodes[old].settle()
	c.nodes[old].Kill()
	return c.NextOwner(slot, old)
}

// NextOwner waits until another node serves a slot than the old one, which was
// killed or stopped, and until all that run find the cluster whole. It returns
// the new one. Restart or Resume makes the old one its replica, in a while.
func (c *Cluster) NextOwner(slot, old int) int {
	c.t.Helper()
	owner := old
	await(c.t, fmt.Sprintf("a successor of node %d", old), func() (err error) {
		if owner, err = c.agreed(slot); err == nil && owner == old {
			err = errors.New("it is still thought to serve")
		}
		return errors.Join(err, c.whole())
	})
	return owner
}
