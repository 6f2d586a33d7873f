package redistest

import (
	"fmt"
	"strconv"
	"strings"
)

// linked returns nil where a replica has its master's data.
func (s *Server) linked() error {
	info, err := infoOf(s.Addr(), "replication")
	if err == nil && info["master_link_status"] != "up" {
		err = fmt.Errorf("the link of %s is %q", s.Addr(), info["master_link_status"])
	}
	return err
}

// feeds returns nil where a master has so many replicas, and all told it that they
// have what it wrote up to an offset.
func (s *Server) feeds(replicas int, offset int64) error {
	info, err := infoOf(s.Addr(), "replication")
	if err != nil {
		return err
	}
	fed := 0
	for name, line := range info { // slave0:ip=127.0.0.1,port=6379,state=online,offset=14,lag=0
		if !strings.HasPrefix(name, "slave") || !strings.Contains(line, "state=online") {
			continue
		}
		_, rest, _ := strings.Cut(line, "offset=")
		text, _, _ := strings.Cut(rest, ",")
		if at, err := strconv.ParseInt(text, 10, 64); err == nil && at >= offset {
			fed++
		}
	}
	if fed < replicas {
		err = fmt.Errorf("%s feeds %d replicas up to %d: %v", s.Addr(), fed, offset, info)
	}
	return err
}

// settle waits until the replicas of a master have what was written before.
func (s *Server) settle() {
	s.t.Helper()
	info := s.info("replication")
	replicas, err := strconv.Atoi(info["connected_slaves"])
	if err != nil {
		s.t.Fatalf("redistest: %s says %v", s.Addr(), info)
	}
	offset, err := strconv.ParseInt(info["master_repl_offset"], 10, 64)
	if err != nil {
		s.t.Fatalf("redistest: %s says %v", s.Addr(), info)
	}
	await(s.t, "the replicas of "+s.Addr(), func() error { return s.feeds(replicas, offset) })
}
