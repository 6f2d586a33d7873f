package std

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Recorder passes a response on and notes its status. A nil one, where nobody asks,
// knows of none.
//
// What [http.ResponseController] looks for, it has whatever the writer behind it has,
// and leaves the answer to that. Of the interfaces that handlers assert, [Record]
// gives it those that the writer has: see alike.
type Recorder struct {
	http.ResponseWriter
	status    int  // 0: nothing written yet
	hijacked  bool // then the status is nobody's to tell
	unwrapped bool // somebody has gone past it
}

// Record returns w, and around it a Recorder where the ticket's observer asks how
// requests end.
func Record(w http.ResponseWriter, t *ratelimit.Ticket) (http.ResponseWriter, *Recorder) {
	if !t.WantsStatus() {
		return w, nil
	}
	r := &Recorder{ResponseWriter: w}
	return r.alike(), r
}

// Answered returns the final status that was written, or 0 where the connection was
// taken over, and whether there was either.
func (r *Recorder) Answered() (status int, ok bool) {
	switch {
	case r == nil:
		return 0, false
	case r.hijacked:
		return 0, true
	default:
		return r.status, r.status != 0
	}
}

// Status returns the status of a request whose handler has returned: where that
// wrote none, net/http answers 200. It is 0 where the connection was taken over, and
// where nothing was written here but somebody asked for the writer behind.
func (r *Recorder) Status() int {
	if status, ok := r.Answered(); ok || r == nil || r.unwrapped {
		return status
	}
	return http.StatusOK
}

// wrote notes what is final: of several the first, and no 1xx but 101.
func (r *Recorder) wrote(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
}

// WriteHeader implements [http.ResponseWriter].
func (r *Recorder) WriteHeader(status int) {
	r.ResponseWriter.WriteHeader(status) // panics on a status that is none
	r.wrote(status)
}

// Write implements [http.ResponseWriter].
func (r *Recorder) Write(p []byte) (int, error) {
	r.wrote(http.StatusOK)
	return r.ResponseWriter.Write(p)
}

// WriteString implements [io.StringWriter].
func (r *Recorder) WriteString(s string) (int, error) {
	r.wrote(http.StatusOK)
	return io.WriteString(r.ResponseWriter, s)
}

// Unwrap is for [http.ResponseController], which takes this way to Hijack where the
// writer behind has none, but the one behind that.
func (r *Recorder) Unwrap() http.ResponseWriter {
	r.unwrapped = true
	return r.ResponseWriter
}

func (r *Recorder) controller() *http.ResponseController {
	return http.NewResponseController(r.ResponseWriter)
}

// FlushError is for [http.ResponseController], as are the three that follow.
func (r *Recorder) FlushError() error {
	err := r.controller().Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		r.wrote(http.StatusOK)
	}
	return err
}

// SetReadDeadline sets when reading the request ends.
func (r *Recorder) SetReadDeadline(t time.Time) error { return r.controller().SetReadDeadline(t) }

// SetWriteDeadline sets when writing the response ends.
func (r *Recorder) SetWriteDeadline(t time.Time) error { return r.controller().SetWriteDeadline(t) }

// EnableFullDuplex lets HTTP/1 handlers read while they write.
func (r *Recorder) EnableFullDuplex() error { return r.controller().EnableFullDuplex() }

// CloseNotify is for gin, which asserts that a writer has it. Deprecated as it is,
// every server's has; where one has not, nothing is notified.
func (r *Recorder) CloseNotify() <-chan bool {
	if n, ok := r.ResponseWriter.(interface{ CloseNotify() <-chan bool }); ok {
		return n.CloseNotify()
	}
	return nil
}

// These are the interfaces that not every writer has: each is a conversion of the
// Recorder, for alike to put together.
type (
	flusher  Recorder
	hijacker Recorder
	reader   Recorder
)

func (f *flusher) Flush() {
	f.ResponseWriter.(http.Flusher).Flush()
	(*Recorder)(f).wrote(http.StatusOK)
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := h.ResponseWriter.(http.Hijacker).Hijack()
	h.hijacked = h.hijacked || err == nil
	return conn, buffered, err
}

// ReadFrom is how files reach the connection without a copy.
func (r *reader) ReadFrom(src io.Reader) (int64, error) {
	(*Recorder)(r).wrote(http.StatusOK)
	return r.ResponseWriter.(io.ReaderFrom).ReadFrom(src)
}
