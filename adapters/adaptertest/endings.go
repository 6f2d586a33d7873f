package adaptertest

import (
	"context"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// watched returns the cases again, with an observer that asks how requests end, so
// that what adapters put around the response for it stands in nobody's way.
func watched(groups ...[]testCase) []testCase {
	var all []testCase
	for _, group := range groups {
		for _, c := range group {
			all = append(all, testCase{name: "watched: " + c.name, needs: c.needs, run: func(s *suite) {
				s.watch()
				c.run(s)
			}})
		}
	}
	return all
}

// endings is an observer that is told how requests end.
type endings struct {
	*codes
	told chan ratelimit.Ended
}

// Ended implements [ratelimit.EndObserver]. A case that does not look at it may make
// more of it than fit.
func (e *endings) Ended(_ context.Context, ended ratelimit.Ended) {
	select {
	case e.told <- ended:
	default:
	}
}

func (s *suite) watch() { s.ends = &endings{codes: &s.codes, told: make(chan ratelimit.Ended, 100)} }

// ended checks what is told next: the client may have its answer before.
func (s *suite) ended(of *answer, outcome ratelimit.Outcome, status int) (err error) {
	s.Helper()
	got, ok := within(s.ends.told)
	if !ok {
		s.Fatalf("%s: no end is told", of.name)
	}
	if got.Outcome != outcome || got.Status != status {
		s.Errorf("%s: ended %v with %d, want %v with %d", of.name, got.Outcome, got.Status, outcome, status)
	}
	return got.Err
}

// untoldEnds checks that no more was told than the case has looked at.
func (s *suite) untoldEnds() {
	close(s.ends.told)
	for e := range s.ends.told {
		s.Errorf("told once more: %v with %d, %v", e.Outcome, e.Status, e.Err)
	}
}

// answered checks that the answer has that status, and that it is told as well.
func (s *suite) answered(a *answer, status int) (err error) {
	s.Helper()
	if a.status != status {
		s.Errorf("%s: answered %d, want %d", a.name, a.status, status)
	}
	return s.ended(a, ratelimit.Allowed, status)
}
