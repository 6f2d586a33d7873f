// Command replay plays traces with known answers on a store, and tells where the
// store says something else.
//
//	go run github.com/weirhq/ratelimit/core/storetest/replay [-redis ADDR] FILE...
//
// A file holds one trace a line, in either of the shapes that testdata/README.md
// of package storetest describes. The store is the one in memory, or the one in
// Redis, on a clock that the traces set. In Redis the keys of each trace have a prefix
// of their own, and expire by themselves. The exit status is 1 where anything differs or cannot be read,
// and 2 where the command is called in a wrong way.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/core/storetest/internal/clock"
	"github.com/weirhq/ratelimit/core/storetest/internal/vectors"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const (
	differs = 1
	misused = 2
)

func run(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(errs)
	redis := flags.String("redis", "", "play on the Redis at this address, host:port or a URL, instead of in memory")
	flags.Usage = func() {
		fmt.Fprintln(errs, "usage: replay [-redis ADDR] FILE...\n\nPlays traces with known answers, one a line, on a store.")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return misused
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return misused
	}
	r := replay{out: out, open: openMemory}
	if *redis != "" {
		r.open = openRedis(*redis)
	}
	for _, name := range flags.Args() {
		r.file(name)
	}
	return r.summary()
}

// opener returns an empty store, or one that was never given the keys of the
// trace, that reads the clock; and what ends it.
type opener func(c *clock.Clock) (ratelimit.Store, io.Closer, error)

func openMemory(c *clock.Clock) (ratelimit.Store, io.Closer, error) {
	return ratelimit.NewMemory(ratelimit.MemoryConfig{Now: c.Now}), io.NopCloser(nil), nil
}

// openRedis returns an opener of stores in the Redis at an address.
func openRedis(addr string) opener {
	if !strings.Contains(addr, "://") {
		addr = "redis://" + addr
	}
	run, n := rand.Uint64(), 0
	return func(c *clock.Clock) (ratelimit.Store, io.Closer, error) {
		n++
		store, err := redisstore.Open(addr, redisstore.Config{
			Prefix: fmt.Sprintf("replay:%x:%d:", run, n), Now: c.Now, Timeout: time.Second,
		})
		return store, store, err
	}
}

// replay counts what was played.
type replay struct {
	out  io.Writer
	open opener

	traces, steps, mismatches, failures int
}

func (r *replay) file(name string) {
	data, err := os.ReadFile(name)
	if err == nil && len(data) == 0 {
		err = errors.New("holds no trace")
	}
	if err != nil {
		r.fail(name, err)
		return
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		at := fmt.Sprintf("%s:%d", name, n)
		if err := r.line(at, line); err != nil {
			r.fail(at, err)
		}
	}
}

func (r *replay) line(at string, line []byte) error {
	trace, err := vectors.Parse(line)
	if err != nil {
		return err
	}
	c := &clock.Clock{}
	c.Set(trace.Start())
	store, closer, err := r.open(c)
	if err != nil {
		return err
	}
	defer closer.Close()
	r.traces++
	r.steps += len(trace.Steps)
	bad, err := trace.Play(store, c, at)
	for _, m := range bad {
		fmt.Fprintf(r.out, "%s: %v\n", at, m)
	}
	r.mismatches += len(bad)
	return err
}

func (r *replay) fail(at string, err error) {
	r.failures++
	fmt.Fprintf(r.out, "%s: %v\n", at, err)
}

// summary prints what was played and returns the exit status.
func (r *replay) summary() int {
	fmt.Fprintf(r.out, "%d traces, %d steps: %d mismatches, %d failures\n", r.traces, r.steps, r.mismatches, r.failures)
	if r.mismatches+r.failures > 0 {
		return differs
	}
	return 0
}
