package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// inline is the kind of a command that was sent as a line of words.
const inline = 'i'

const (
	maxText  = 512 << 20 // bytes of a string, as the servers have it
	maxItems = 1 << 20
	maxDepth = 32
)

// value is a value of RESP, the servers' protocol, version 2 or 3.
type value struct {
	kind  byte // the byte that it starts with, or inline
	null  bool
	text  string
	items []value
}

// reader reads values, and keeps the bytes of the last one.
type reader struct {
	*bufio.Reader
	raw []byte
}

func newReader(r io.Reader) *reader { return &reader{Reader: bufio.NewReaderSize(r, 32<<10)} }

// read returns a value, and the bytes that it was.
func (r *reader) read() (value, []byte, error) {
	r.raw = nil
	v, err := r.value(0)
	return v, r.raw, err
}

// some returns the bytes that come next, at least one.
func (r *reader) some() ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	raw := make([]byte, r.Buffered())
	_, err := io.ReadFull(r, raw)
	return raw, err
}

func (r *reader) value(depth int) (value, error) {
	line, err := r.line()
	switch {
	case err != nil:
		return value{}, err
	case depth > maxDepth:
		return value{}, errors.New("redistest: values are nested too deep")
	case line == "":
		return value{kind: inline}, nil
	}
	kind, text := line[0], line[1:]
	switch kind {
	case '+', '-', ':', ',', '#', '(', '_':
		return value{kind: kind, null: kind == '_', text: text}, nil
	case '$', '=', '!':
		return r.bulk(kind, text)
	case '*', '~', '>':
		return r.list(kind, text, 1, depth)
	case '%':
		return r.list(kind, text, 2, depth)
	case '|': // attributes of the value that follows
		if _, err := r.list(kind, text, 2, depth); err != nil {
			return value{}, err
		}
		return r.value(depth + 1)
	}
	return value{kind: inline, text: line}, nil
}

func (r *reader) line() (string, error) {
	line, err := r.ReadSlice('\n')
	r.raw = append(r.raw, line...)
	return strings.TrimRight(string(line), "\r\n"), err
}

func (r *reader) bulk(kind byte, length string) (value, error) {
	n, err := size(length, maxText)
	if err != nil || n < 0 {
		return value{kind: kind, null: true}, err
	}
	start := len(r.raw)
	for end := start + n + len("\r\n"); len(r.raw) < end; { // in parts: a length is no promise
		from := len(r.raw)
		r.raw = append(r.raw, make([]byte, min(end-from, 64<<10))...)
		got, err := io.ReadFull(r, r.raw[from:])
		r.raw = r.raw[:from+got]
		if err != nil {
			return value{}, err
		}
	}
	return value{kind: kind, text: string(r.raw[start : start+n])}, nil
}

func (r *reader) list(kind byte, length string, each, depth int) (value, error) {
	n, err := size(length, maxItems)
	if err != nil || n < 0 {
		return value{kind: kind, null: true}, err
	}
	v := value{kind: kind}
	for range n * each {
		item, err := r.value(depth + 1)
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

// size returns a length; -1 stands for null.
func size(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < -1 || n > most {
		return 0, fmt.Errorf("redistest: a value of length %q", text)
	}
	return n, nil
}

// command returns the name of the command that a value is, in lower case.
func (v value) command() string {
	if v.kind == '*' && len(v.items) > 0 {
		return strings.ToLower(v.items[0].text)
	}
	name, _, _ := strings.Cut(v.text, " ")
	return strings.ToLower(name)
}

// plain returns a value as Do does.
func (v value) plain() (any, error) {
	switch {
	case v.kind == '-' || v.kind == '!':
		return nil, Error(v.text)
	case v.null:
		return nil, nil
	case v.kind == ':':
		return strconv.ParseInt(v.text, 10, 64)
	case !strings.ContainsRune("*~>%", rune(v.kind)):
		return v.text, nil
	}
	list := make([]any, len(v.items))
	for i, item := range v.items {
		p, err := item.plain()
		if err != nil {
			p = err
		}
		list[i] = p
	}
	return list, nil
}
