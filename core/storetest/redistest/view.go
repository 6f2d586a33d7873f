package redistest

import (
	"errors"
	"fmt"
	"slices"
)

// agreed returns the node that all nodes which run know a slot to be served by.
func (c *Cluster) agreed(slot int) (int, error) {
	owner := -1
	for _, node := range c.running() {
		i, err := c.view(node, slot)
		switch {
		case err != nil:
			return -1, err
		case owner != -1 && owner != i:
			return -1, fmt.Errorf("one says that node %d serves slot %d, another says %d", owner, slot, i)
		}
		owner = i
	}
	if owner == -1 {
		return -1, errors.New("no node runs")
	}
	return owner, nil
}

// view returns the node that one node knows a slot to be served by. CLUSTER SLOTS
// returns entries of a first and a last slot and the nodes that have them, the
// master first: address, port and identity.
func (c *Cluster) view(node *Server, slot int) (int, error) {
	v, err := node.Do("CLUSTER", "SLOTS")
	if err != nil {
		return -1, err
	}
	entries, _ := v.([]any)
	for _, e := range entries {
		entry, _ := e.([]any)
		if len(entry) < 3 {
			continue
		}
		first, _ := entry[0].(int64)
		last, _ := entry[1].(int64)
		master, _ := entry[2].([]any)
		if int64(slot) < first || int64(slot) > last || len(master) < 3 {
			continue
		}
		if i := slices.Index(c.ids, fmt.Sprint(master[2])); i >= 0 {
			return i, nil
		}
	}
	return -1, fmt.Errorf("%s knows no node for slot %d: %v", node.Addr(), slot, v)
}
