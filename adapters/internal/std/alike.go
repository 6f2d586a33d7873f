package std

import (
	"io"
	"net/http"
)

// The interfaces that alike tells apart.
const (
	flushes = 1 << iota
	hijacks
	reads
	pushes
)

// alike returns the recorder with those of the interfaces that the writer behind it
// has: a handler that finds no [http.Hijacker], as over HTTP/2, does something else,
// and one that finds it counts on it. A type has its methods or has not, so there is
// one for each combination.
func (r *Recorder) alike() http.ResponseWriter {
	var has int
	if _, ok := r.ResponseWriter.(http.Flusher); ok {
		has |= flushes
	}
	if _, ok := r.ResponseWriter.(http.Hijacker); ok {
		has |= hijacks
	}
	if _, ok := r.ResponseWriter.(io.ReaderFrom); ok {
		has |= reads
	}
	push, ok := r.ResponseWriter.(http.Pusher)
	if ok {
		has |= pushes
	}
	flush, hijack, read := (*flusher)(r), (*hijacker)(r), (*reader)(r)
	switch has {
	case flushes:
		return struct {
			*Recorder
			http.Flusher
		}{r, flush}
	case hijacks:
		return struct {
			*Recorder
			http.Hijacker
		}{r, hijack}
	case flushes | hijacks:
		return struct {
			*Recorder
			http.Flusher
			http.Hijacker
		}{r, flush, hijack}
	case reads:
		return struct {
			*Recorder
			io.ReaderFrom
		}{r, read}
	case flushes | reads:
		return struct {
			*Recorder
			http.Flusher
			io.ReaderFrom
		}{r, flush, read}
	case hijacks | reads:
		return struct {
			*Recorder
			http.Hijacker
			io.ReaderFrom
		}{r, hijack, read}
	case flushes | hijacks | reads:
		return struct {
			*Recorder
			http.Flusher
			http.Hijacker
			io.ReaderFrom
		}{r, flush, hijack, read}
	case pushes:
		return struct {
			*Recorder
			http.Pusher
		}{r, push}
	case flushes | pushes:
		return struct {
			*Recorder
			http.Flusher
			http.Pusher
		}{r, flush, push}
	case hijacks | pushes:
		return struct {
			*Recorder
			http.Hijacker
			http.Pusher
		}{r, hijack, push}
	case flushes | hijacks | pushes:
		return struct {
			*Recorder
			http.Flusher
			http.Hijacker
			http.Pusher
		}{r, flush, hijack, push}
	case reads | pushes:
		return struct {
			*Recorder
			io.ReaderFrom
			http.Pusher
		}{r, read, push}
	case flushes | reads | pushes:
		return struct {
			*Recorder
			http.Flusher
			io.ReaderFrom
			http.Pusher
		}{r, flush, read, push}
	case hijacks | reads | pushes:
		return struct {
			*Recorder
			http.Hijacker
			io.ReaderFrom
			http.Pusher
		}{r, hijack, read, push}
	case flushes | hijacks | reads | pushes:
		return struct {
			*Recorder
			http.Flusher
			http.Hijacker
			io.ReaderFrom
			http.Pusher
		}{r, flush, hijack, read, push}
	default:
		return r
	}
}
