package redisstore

import "sync/atomic"

// Stats is what a store did since it was made.
type Stats struct {
	Decisions  int64 // calls of Take
	RoundTrips int64 // pipelines and lone commands sent; fewer than calls where they were shared
	Loads      int64 // scripts sent with their text, since a server did not know them
	Split      int64 // Takes whose keys are in several slots, decided in several calls
	GiveBacks  int64 // split Takes that charged in some slots and were not admitted
}

// counters is Stats while it counts.
type counters struct{ decisions, trips, loads, split, giveBacks atomic.Int64 }

// Stats returns what the store did so far.
func (s *Store) Stats() Stats {
	c := &s.counters
	return Stats{
		Decisions: c.decisions.Load(), RoundTrips: c.trips.Load(), Loads: c.loads.Load(),
		Split: c.split.Load(), GiveBacks: c.giveBacks.Load(),
	}
}
