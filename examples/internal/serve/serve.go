// Package serve is what the examples have in common besides their limits: they
// listen, say what to try, and stop cleanly.
package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const try = `listening on http://%[1]s

  curl -i http://%[1]s/
  curl -i 'http://%[1]s/search?q=limits'
  curl -i -H 'X-Api-Key: demo' http://%[1]s/api/items
  for i in $(seq 12); do curl -i -X POST -H "X-Forwarded-For: 192.0.2.$i" http://%[1]s/login; done

Stop with Ctrl-C.
`

// App serves until it is shut down. A *fiber.App is one; [HTTP] makes one of a
// net/http handler.
type App interface {
	Listener(net.Listener) error
	ShutdownWithTimeout(time.Duration) error
}

// Main serves the app, where the flag -addr says, until an interrupt.
func Main(app App) {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, app, *addr, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run serves the app until ctx ends, then lets running requests finish.
func run(ctx context.Context, app App, addr string, out io.Writer) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, try, l.Addr())

	served := make(chan error, 1)
	go func() { served <- app.Listener(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return app.ShutdownWithTimeout(10 * time.Second)
	}
}

// HTTP returns an app that is a net/http server.
func HTTP(h http.Handler) App {
	return &httpApp{http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}}
}

type httpApp struct{ server http.Server }

func (a *httpApp) Listener(l net.Listener) error {
	if err := a.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (a *httpApp) ShutdownWithTimeout(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return a.server.Shutdown(ctx)
}
