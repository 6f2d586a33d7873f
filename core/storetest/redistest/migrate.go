package redistest

import (
	"fmt"
	"strconv"
)

// MigrateSlot moves a slot and its keys from one master to another, in the steps
// that an administrator's tool takes. It calls between after each: when the slot
// is open at both (the old master answers ASK for keys that it does not have), after
// each key that moved, and when the new master alone knows that it owns the slot.
// between may be nil. It returns when all nodes know the new owner.
func (c *Cluster) MigrateSlot(slot, from, to int, between func()) {
	c.t.Helper()
	if between == nil {
		between = func() {}
	}
	source, target, text := c.nodes[from], c.nodes[to], strconv.Itoa(slot)
	c.step(target, "CLUSTER", "SETSLOT", text, "IMPORTING", c.ids[from])
	c.step(source, "CLUSTER", "SETSLOT", text, "MIGRATING", c.ids[to])
	between()
	for {
		keys, _ := c.step(source, "CLUSTER", "GETKEYSINSLOT", text, "1").([]any)
		if len(keys) == 0 {
			break
		}
		c.step(source, "MIGRATE", "127.0.0.1", strconv.Itoa(target.port), fmt.Sprint(keys[0]), "0", "5000")
		between()
	}
	c.step(target, "CLUSTER", "SETSLOT", text, "NODE", c.ids[to])
	between()
	c.step(source, "CLUSTER", "SETSLOT", text, "NODE", c.ids[to])
	await(c.t, fmt.Sprintf("node %d to be known as the owner of slot %d", to, slot), func() error {
		owner, err := c.agreed(slot)
		if err == nil && owner != to {
			err = fmt.Errorf("it is node %d", owner)
		}
		return err
	})
}

// step sends a command, and ends the test where that returns an error.
func (c *Cluster) step(node *Server, args ...string) any {
	c.t.Helper()
	v, err := node.Do(args...)
	if err != nil {
		c.t.Fatalf("redistest: %v at %s: %v", args, node.Addr(), err)
	}
	return v
}
