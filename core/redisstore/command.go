package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// command is a call as the client sends it. A client retries what it got no answer
// to; a charge whose answer was lost would be made twice.
type command struct{ *redis.Cmd }

// NoRetry keeps the client from sending the command a second time, unless the server
// said that it did not run it.
func (command) NoRetry() bool { return true }

// Clone keeps a copy from being retried as well.
func (c command) Clone() redis.Cmder { return command{c.Cmd.Clone().(*redis.Cmd)} }

// firstKey is the position of the first key among the arguments.
const firstKey = 3

// newCommand returns the command of a call: with the script's hash, or with its text
// where the server does not know it.
func newCommand(ctx context.Context, c *call, text bool) command {
	args := make([]any, 0, firstKey+len(c.keys)+1)
	if text { // pointers: a string in an interface is an allocation
		args = append(args, "eval", &c.script.text)
	} else {
		args = append(args, "evalsha", &c.script.sha)
	}
	args = append(args, len(c.keys))
	for i := range c.keys {
		args = append(args, &c.keys[i])
	}
	cmd := redis.NewCmd(ctx, append(args, &c.arg)...)
	cmd.SetFirstKeyPos(firstKey)
	return command{cmd}
}
