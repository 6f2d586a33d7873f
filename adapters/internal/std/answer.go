package std

import (
	"net/http"
	"unsafe"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Block is the memory of one answer's header values, which then keep it: it serves
// for one [SetHeaders].
type Block struct {
	values [8]string // as many as there are names, and Content-Type
	text   [128]byte // of two policies in a draft's lists
}

// Answer writes the ticket's own answer; of b see [SetHeaders]. An error means that
// the client is gone.
//
// What the response says of another body goes, or the client would wait for the rest
// of that one. Content-Encoding stays, as with [http.Error]: it may be that of a
// middleware which compresses whatever is written, see https://go.dev/issue/66343.
func Answer(w http.ResponseWriter, t *ratelimit.Ticket, b *Block) error {
	contentType, body := t.Body()
	header := w.Header()
	for _, name := range [...]string{"Content-Length", "Etag", "Last-Modified"} {
		delete(header, name)
	}
	SetHeaders(header, t, contentType, b)
	w.WriteHeader(t.Status())
	_, err := w.Write(body)
	return err
}

// SetHeaders sets the ticket's headers and, unless it is "", the content type, in the
// memory of b. Only what is too long for it is allocated, once for all values.
func SetHeaders(h http.Header, t *ratelimit.Ticket, contentType string, b *Block) {
	count, size := measure(t)
	values, text := b.values[:], b.text[:0]
	if count >= len(values) {
		values = make([]string, count+1)
	}
	if size > cap(text) {
		text = make([]byte, 0, size)
	}
	for i := range count {
		name, value, _ := t.HeaderAt(i)
		from := len(text)
		text = append(text, value...)
		values[i] = frozen(text[from:])
		h[name] = values[i : i+1 : i+1] // capped: a later Add must not reach the next value
	}
	if contentType != "" {
		values[count] = contentType
		h["Content-Type"] = values[count : count+1 : count+1]
	}
}

// measure returns how many headers the ticket has, and the bytes of their values.
func measure(t *ratelimit.Ticket) (count, size int) {
	for ; ; count++ {
		_, value, ok := t.HeaderAt(count)
		if !ok {
			return count, size
		}
		size += len(value)
	}
}

// frozen returns the text as a string without a copy. That is sound because the text
// has room for all values, so that none is moved, and nobody writes over one: each is
// appended behind the last, a Block serves once, and only the strings get out of here.
// They keep the memory alive as long as they are.
func frozen(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }
