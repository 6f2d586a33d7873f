package adaptertest

import (
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// DenyFunc is the Deny of an adapter whose handlers are net/http's.
type DenyFunc func(http.ResponseWriter, *http.Request, ratelimit.Decision)

// Handler returns the route's handler for frameworks whose handlers are net/http's.
func Handler(route Route, deny DenyFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route.Enter != nil {
			route.Enter()
		}
		switch route.Handler {
		case OKHandler:
			writeOK(w)
		case ErrorHandler:
			http.Error(w, "broken", http.StatusInternalServerError)
		case StatusHandler, CodedHandler:
			if route.Status != 0 {
				w.WriteHeader(route.Status)
			}
		case PanicHandler:
			panic("adaptertest: the handler panics")
		case StreamHandler:
			io.WriteString(w, "one\n")
			http.NewResponseController(w).Flush()
			route.Pause()
			io.WriteString(w, "two\n")
		case HintsHandler:
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			writeOK(w)
		case HijackHandler:
			hijack(w)
		case CheckHandler:
			if route.Prepare {
				Prepare(w.Header().Set)
			}
			d, err := route.Account.Allow(r.Context(), r.Header.Get("X-Account"), 1)
			switch {
			case err != nil:
				http.Error(w, "broken", http.StatusServiceUnavailable)
			case !d.Allowed():
				deny(w, r, d)
			default:
				writeOK(w)
			}
		case ProxyHandler:
			proxy(route.Upstream).ServeHTTP(w, r)
		}
	})
}

// proxy drops what the upstream says of its own limits, or it would stand beside
// what the limiter said of the app's. A Retry-After is no such thing: the limiter
// sends none with a request that it admits.
func proxy(upstream string) http.Handler {
	target, err := url.Parse(upstream)
	if err != nil {
		panic(err)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(resp *http.Response) error {
			maps.DeleteFunc(resp.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "X-Ratelimit-") })
			return nil
		},
	}
}

func writeOK(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, "ok")
}

func hijack(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
}

// Recover answers 500 where next panics, for routers that bring no such middleware
// or one that prints.
func Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "broken", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP serves h on l until the test ends, over HTTP/1 and HTTP/2.
func ServeHTTP(tb testing.TB, h http.Handler, l net.Listener) {
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			tb.Errorf("shutdown: %v", err)
		}
		if err := <-done; err != http.ErrServerClosed {
			tb.Errorf("serve: %v", err)
		}
	})
}
