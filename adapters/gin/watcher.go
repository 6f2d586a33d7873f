package ginlimit

import (
	"bufio"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"
)

// watcher is gin's writer, but that it tells no status of a connection which was
// taken over: gin would tell 200. It stays until gin makes a new one for the next
// request, since what has been put around it meanwhile may stay as well.
type watcher struct {
	gin.ResponseWriter
	hijacked bool
}

// Hijack implements [http.Hijacker].
func (w *watcher) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := w.ResponseWriter.Hijack()
	w.hijacked = w.hijacked || err == nil
	return conn, buffered, err
}

// Status implements [gin.ResponseWriter].
func (w *watcher) Status() int {
	if w.hijacked {
		return 0
	}
	return w.ResponseWriter.Status()
}

// Unwrap returns what gin's writer does: handlers expect net/http's behind it.
func (w *watcher) Unwrap() http.ResponseWriter {
	if gins, ok := w.ResponseWriter.(interface{ Unwrap() http.ResponseWriter }); ok {
		return gins.Unwrap()
	}
	return w.ResponseWriter
}
