package redisstore

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// pause is how long a call waits that the server refused to run, before it is sent again.
const pause = 5 * time.Millisecond

// send sends calls in one pipeline and answers them. Calls that the server did not
// run go back into a lane; one whose reply was lost never does.
func (d *dispatcher) send(l *lane, batch []*call) {
	ctx, cancel := batchContext(batch)
	commands := d.exchange(ctx, batch)
	cancel()
	var again []*call
	for i, c := range batch {
		reply, err := commands[i].Text()
		d.notice(err)
		switch {
		case err == nil:
			c.answer(reply, nil)
		case unknownScript(err):
			c.tries++
			again = append(again, c)
		case d.passes(c, err):
			c.paused = true
			d.running.Add(1)
			time.AfterFunc(pause, func() { d.resume(c) })
		default:
			c.answer("", err)
		}
	}
	if again != nil {
		d.mu.Lock()
		l.pushFront(again)
		d.mu.Unlock()
	}
}

// notice learns from what became of a call. A cluster client looks for the new master
// of a slot where it is told that it moved, but not where a node is gone.
func (d *dispatcher) notice(err error) {
	cluster, ok := d.client.(*redis.ClusterClient)
	switch {
	case !ok:
	case err == nil:
		d.known.Store(true)
	case !isReply(err) || redis.IsClusterDownError(err):
		cluster.ReloadState(context.Background()) // by and by, and not more often than it bears
	}
}

// batchContext returns the context of a pipeline: it lasts as long as the call that
// waits longest, and has the values of the first, without its end.
func batchContext(batch []*call) (context.Context, context.CancelFunc) {
	first := batch[0].trip
	latest := first.deadline
	for _, c := range batch[1:] {
		if c.trip.deadline.After(latest) {
			latest = c.trip.deadline
		}
	}
	return context.WithDeadline(context.WithoutCancel(first.ctx), latest)
}

// exchange sends a pipeline and waits for its replies. A call that is alone goes as a
// command, which the client sends with less ado.
func (d *dispatcher) exchange(ctx context.Context, batch []*call) []command {
	d.stats.trips.Add(1)
	commands := make([]command, len(batch))
	for i, c := range batch {
		text := needsText(batch, i)
		if text {
			d.stats.loads.Add(1)
		}
		commands[i] = newCommand(ctx, c, text)
	}
	if len(batch) == 1 {
		_ = d.client.Process(ctx, commands[0]) // each command holds its own error
		return commands
	}
	pipe := d.client.Pipeline()
	for i := range commands {
		_ = pipe.Process(ctx, commands[i])
	}
	_, _ = pipe.Exec(ctx)
	return commands
}

// needsText reports whether the i-th call of a pipeline is sent with its script's
// text. At the second try the first one brings it for all; some may go to other nodes,
// so that at the third each brings its own.
func needsText(batch []*call, i int) bool {
	c := batch[i]
	if c.tries != 1 {
		return c.tries > 1
	}
	for _, before := range batch[:i] {
		if before.tries == 1 && before.script == c.script {
			return false
		}
	}
	return true
}

// passes reports whether a call was refused for a reason that passes, soon enough: a
// fail-over, a start, a resharding. It did not run, so sending it again charges once.
func (d *dispatcher) passes(c *call, err error) bool {
	if !isReply(err) || c.trip.left.Load() || time.Until(c.trip.deadline) < pause {
		return false
	}
	if redis.IsTryAgainError(err) {
		return !c.divisible() // else its keys are asked one by one
	}
	_, moved := redis.IsMovedError(err)
	_, ask := redis.IsAskError(err)
	if moved || ask {
		_, follows := d.client.(*redis.ClusterClient)
		return follows
	}
	return redis.IsReadOnlyError(err) || redis.IsLoadingError(err) ||
		redis.IsClusterDownError(err) || redis.IsMasterDownError(err)
}

// resume queues a call again after a pause: its key may be on another node by now.
func (d *dispatcher) resume(c *call) {
	d.mu.Lock()
	d.enqueue(c)
	d.mu.Unlock()
	d.running.Done()
}
