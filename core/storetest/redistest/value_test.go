package redistest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"+OK\r\n":            "OK",
		"-ERR no\r\n":        "ERR no",
		"!6\r\nERR no\r\n":   "ERR no",
		":-1\r\n":            "-1",
		"$3\r\na\r\n\r\n":    "a\r\n",
		"$0\r\n\r\n":         "",
		"$-1\r\n":            "<nil>",
		"*-1\r\n":            "<nil>",
		"_\r\n":              "<nil>",
		"*0\r\n":             "[]",
		"%1\r\n+a\r\n:1\r\n": "[a 1]",
		"~1\r\n:1\r\n":       "[1]",
		"*3\r\n:1\r\n*1\r\n$1\r\na\r\n-ERR no\r\n": "[1 [a] ERR no]",
		"|1\r\n+ttl\r\n:3600\r\n+OK\r\n":           "OK",
	} {
		v, got, err := newReader(strings.NewReader(raw + "+next\r\n")).read()
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		equal(t, "the bytes", string(got), raw)
		equal(t, fmt.Sprintf("%q", raw), answer(v.plain()), want)
	}
}

func TestNoValue(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", "+OK", "$", "$x\r\n", "$-2\r\n", "$3\r\nab", "$99999999999\r\n", "*2\r\n:1\r\n", "*1048577\r\n",
		"%1\r\n+a\r\n", strings.Repeat("*1\r\n", 100) + ":1\r\n", strings.Repeat("x", 1<<16) + "\r\n",
	} {
		if v, _, err := newReader(strings.NewReader(raw)).read(); err == nil {
			t.Errorf("%.20q is %v, want an error", raw, v)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"*2\r\n$3\r\nGeT\r\n$1\r\na\r\n": "get",
		"PING a\r\n":                     "ping",
		"\r\n":                           "",
	} {
		v, _, err := newReader(strings.NewReader(raw)).read()
		if err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		equal(t, raw, v.command(), want)
	}
}

// The bytes of a value are those that it was read from, and are read again as the
// same value.
func FuzzValue(f *testing.F) {
	for _, raw := range []string{
		"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", "PING\r\n", ">2\r\n+a\r\n_\r\n", "%1\r\n+a\r\n:1\r\n+b\r\n",
		"|1\r\n+a\r\n:1\r\n(12\r\n", "~1\r\n#t\r\n", "=7\r\ntxt:abc\r\n", ",1.5\r\n",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		v, raw, err := newReader(bytes.NewReader(input)).read()
		if !bytes.HasPrefix(input, raw) {
			t.Fatalf("%q is not the beginning of %q", raw, input)
		}
		if err != nil {
			return
		}
		again, same, err := newReader(bytes.NewReader(raw)).read()
		if err != nil || !bytes.Equal(raw, same) || fmt.Sprint(v) != fmt.Sprint(again) {
			t.Errorf("%q is %v, and again %q is %v, %v", raw, v, same, again, err)
		}
	})
}
