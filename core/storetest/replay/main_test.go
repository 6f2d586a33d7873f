package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `{"name":"one","limit":{"algorithm":"fixed_window","quota":2,"window_us":1000000,"burst":0,"max_delay_us":0},"steps":[` +
	`["take",1767225600000000,2,true,0,0,1000000,0,1000000],["adjust",1767225600000000,-1,1767225600000000,1,1000000],` +
	`["limit",3,0],["take",1767225600000001,3,false,2,999999,999999,0,999999]]}` + "\n"

const layered = `{"name":"two","limits":[{"algorithm":"token_bucket","quota":1,"window_us":1000000,"burst":0,"max_delay_us":0},` +
	`{"algorithm":"gcra","quota":10,"window_us":1000000,"burst":0,"max_delay_us":0}],"steps":[` +
	`["take",1767225600000000,[1,1],true,[[true,0,0,1000000,0],[true,9,0,100000,0]]],` +
	`["take",1767225600000000,[1,1],false,[[false,0,1000000,1000000,0],[true,9,0,100000,0]]]]}` + "\n"

func TestReplay(t *testing.T) {
	tests := map[string]struct {
		content string
		code    int
		says    string
	}{
		"both shapes":        {good + layered, 0, "2 traces, 6 steps: 0 mismatches, 0 failures\n"},
		"no last newline":    {strings.TrimSuffix(layered, "\n"), 0, "1 traces, 2 steps: 0 mismatches, 0 failures\n"},
		"a wrong answer":     {strings.Replace(good, "999999,999999,0", "999998,999999,0", 1), 1, "want [fits false remaining 2 retry 999998"},
		"a wrong adjustment": {strings.Replace(good, "1,1000000]", "2,1000000]", 1), 1, "step 1"},
		"a wrong layer":      {strings.Replace(layered, "[true,9,0,100000,0]]]]", "[true,8,0,100000,0]]]]", 1), 1, `trace "two", step 1`},
		"allowed beside it":  {strings.Replace(layered, "[1,1],false", "[1,1],true", 1), 1, "allowed is not what the limits say"},
		"an empty file":      {"", 1, "holds no trace"},
		"a blank line":       {good + "\n" + layered, 1, ":2: EOF"},
		"half a line":        {good[:len(good)/2], 1, "unexpected EOF"},
		"two in a line":      {strings.TrimSuffix(good, "\n") + good, 1, "more than one object"},
		"a missing number":   {strings.Replace(good, `["limit",3,0]`, `["limit",3]`, 1), 1, "has 1 elements, want 2"},
		"a null":             {strings.Replace(good, `["limit",3,0]`, `["limit",null,0]`, 1), 1, "null"},
		"an unknown field":   {strings.Replace(good, `"burst"`, `"bursts"`, 1), 1, "unknown field"},
		"an unknown step":    {strings.Replace(good, `"limit",3`, `"limits",3`, 1), 1, "unknown kind"},
		"no charge to undo":  {strings.Replace(good, "-1,1767225600000000", "-1,1767225600000001", 1), 1, "no charge was made"},
		"an invalid limit":   {strings.Replace(good, `"quota":2`, `"quota":0`, 1), 1, "Quota"},
		"no limit":           {`{"name":"three","steps":[]}` + "\n", 1, "either"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "traces.jsonl")
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if code := run([]string{file}, &out, &errs); code != test.code || !strings.Contains(out.String(), test.says) {
				t.Errorf("want exit status %d and %q, got %d and:\n%s", test.code, test.says, code, &out)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
	}{
		{nil, 2},
		{[]string{"-unknown", "file"}, 2},
		{[]string{"-help"}, 0},
		{[]string{filepath.Join(t.TempDir(), "absent")}, 1},
	} {
		var out, errs bytes.Buffer
		if code := run(test.args, &out, &errs); code != test.code {
			t.Errorf("replay %q: want exit status %d, got %d", test.args, test.code, code)
		}
		if test.code == 2 && !strings.Contains(errs.String(), "usage:") {
			t.Errorf("replay %q: want the usage, got %q", test.args, &errs)
		}
	}
}
