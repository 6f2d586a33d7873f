package redistest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CommandStats is what a server counted of one command.
type CommandStats struct {
	Calls    int64
	Failed   int64         // of the calls, those that ended in an error
	Rejected int64         // before they were called, and no part of Calls
	Time     time.Duration // spent in all calls, in whole microseconds
}

// Commands returns what the server counted since it started or since ResetStats,
// by the command's name in lower case; "script|load" is a subcommand. A command
// that was never sent is not in the map. This package sends "info", "ping" and
// "config|resetstat" itself.
func (s *Server) Commands() map[string]CommandStats {
	s.t.Helper()
	stats := map[string]CommandStats{}
	for name, line := range s.info("commandstats") {
		fields := map[string]int64{}
		for pair := range strings.SplitSeq(line, ",") {
			key, text, _ := strings.Cut(pair, "=")
			fields[key], _ = strconv.ParseInt(text, 10, 64) // usec_per_call is none, and not wanted
		}
		stats[strings.TrimPrefix(name, "cmdstat_")] = CommandStats{
			fields["calls"], fields["failed_calls"], fields["rejected_calls"],
			time.Duration(fields["usec"]) * time.Microsecond,
		}
	}
	return stats
}

// NetBytes returns the bytes that the server received and sent since it started
// or since ResetStats. A call of it adds some kilobytes to out; [Proxy.Bytes]
// counts exactly.
func (s *Server) NetBytes() (in, out int64) {
	s.t.Helper()
	info := s.info("stats")
	for name, n := range map[string]*int64{"total_net_input_bytes": &in, "total_net_output_bytes": &out} {
		var err error
		if *n, err = strconv.ParseInt(info[name], 10, 64); err != nil {
			s.t.Errorf("redistest: INFO says %s:%s", name, info[name])
		}
	}
	return in, out
}

// ResetStats sets back what Commands and NetBytes return.
func (s *Server) ResetStats() { s.t.Helper(); s.must("CONFIG", "RESETSTAT") }

// must sends a command, and fails the test where that returns an error.
func (s *Server) must(args ...string) any {
	s.t.Helper()
	v, err := s.Do(args...)
	if err != nil {
		s.t.Errorf("redistest: %s at %s: %v", strings.Join(args, " "), s.Addr(), err)
	}
	return v
}

func (s *Server) info(section string) map[string]string {
	s.t.Helper()
	info, err := infoOf(s.Addr(), section)
	if err != nil {
		s.t.Errorf("redistest: INFO %s at %s: %v", section, s.Addr(), err)
	}
	return info
}

// infoOf returns a section of what a server says of itself.
func infoOf(addr, section string) (map[string]string, error) {
	v, err := call(addr, callTimeout, "INFO", section)
	if err != nil {
		return nil, err
	}
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("redistest: INFO returned %v", v)
	}
	return fields(text), nil
}

// fields returns the values of lines like "name:value".
func fields(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}
