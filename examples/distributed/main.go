// Command distributed is three instances of one app, on three ports, with one limit:
// held in Redis they count together, in memory each counts for itself.
//
//	go run ./examples/distributed -store redis -redis redis://127.0.0.1:6379
//
// Stop Redis while it runs: payments answer 503 then, since they must not go uncounted (or
// 429 to who was just denied); everything else goes on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	httplimit "github.com/weirhq/ratelimit/adapters/nethttp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/breaker"
	"github.com/weirhq/ratelimit/core/denycache"
	"github.com/weirhq/ratelimit/core/redisstore"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// newApp returns one instance of the app, whose limits are counted in the store.
func newApp(store ratelimit.Store) (http.Handler, error) {
	// While the store is down requests pass uncounted: the default, FailOpen.
	limits, err := ratelimit.New(ratelimit.Config{Store: store, Policies: []ratelimit.Policy{{
		Name: "pages", Limit: ratelimit.PerMinute(60), Key: keyfuncs.ClientIP(),
	}}})
	if err != nil {
		return nil, err
	}
	// A payment that is not counted is worse than one that has to be tried again.
	payments := limits.With(ratelimit.Policy{
		Name: "payments", Limit: ratelimit.PerHour(6).Using(ratelimit.SlidingLog), Key: keyfuncs.ClientIP(),
		OnFailure: ratelimit.FailClosed,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", say("hello"))
	mux.Handle("POST /pay", httplimit.Middleware(payments)(say("paid")))
	return httplimit.Middleware(limits)(mux), nil
}

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, text) }
}

// newStore returns what one instance counts in, and how to end it.
func newStore(kind, url string) (ratelimit.Store, func() error, error) {
	switch kind {
	case "memory":
		return ratelimit.NewMemory(ratelimit.MemoryConfig{}), func() error { return nil }, nil
	case "redis":
		shared, err := redisstore.Open(url, redisstore.Config{})
		if err != nil {
			return nil, nil, err
		}
		// An outage costs the requests under way the time-out, and the others nothing.
		guarded, err1 := breaker.New(shared, breaker.Config{})
		// A key that was denied is not asked about again before it could be admitted.
		store, err2 := denycache.New(guarded, denycache.Config{})
		return store, shared.Close, errors.Join(err1, err2)
	default:
		return nil, nil, fmt.Errorf("-store is memory or redis, not %q", kind)
	}
}

func main() {
	kind := flag.String("store", "memory", "memory: each instance counts for itself; redis: all of them together")
	url := flag.String("redis", "redis://127.0.0.1:6379", "where Redis is")
	addrs := flag.String("addr", "127.0.0.1:8081,127.0.0.1:8082,127.0.0.1:8083", "where the instances listen; port 0 takes a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kind, *url, strings.Split(*addrs, ",")); err != nil {
		log.Fatal(err)
	}
}

// run serves all instances until ctx ends.
func run(ctx context.Context, kind, url string, addrs []string) error {
	ctx, stop := context.WithCancel(ctx)
	var instances sync.WaitGroup
	defer instances.Wait()
	defer stop()
	var urls []string
	for _, addr := range addrs {
		store, end, err := newStore(kind, url)
		if err != nil {
			return err
		}
		app, err := newApp(store)
		if err != nil {
			return err
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		urls = append(urls, "http://"+l.Addr().String())
		fmt.Println("listening on", urls[len(urls)-1])
		instances.Go(func() {
			serve(ctx, l, app)
			if err := end(); err != nil {
				log.Print(err)
			}
		})
	}
	fmt.Printf("\n  for i in 1 2 3; do for app in %s; do curl -i -X POST $app/pay; done; done\n\nStop with Ctrl-C.\n", strings.Join(urls, " "))
	<-ctx.Done()
	return nil
}

// serve serves one instance until ctx ends, and then the requests that it has begun.
func serve(ctx context.Context, l net.Listener, app http.Handler) {
	server := &http.Server{Handler: app, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	context.AfterFunc(ctx, func() { ended <- server.Shutdown(context.WithoutCancel(ctx)) })
	err := server.Serve(l)
	if ctx.Err() != nil {
		err = <-ended
	}
	if err != nil {
		log.Print(err)
	}
}
