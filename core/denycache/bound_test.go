package denycache_test

import (
	"strconv"
	"testing"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/denycache"
)

// flood has n keys denied, for as long as the limit takes to give one back.
func (l *lab) flood(s *ratelimit.Space, from, n int) {
	for i := range n {
		c := key(on(s, 1), strconv.Itoa(from+i))
		l.take(c)
		l.take(c)
	}
}

func TestFlood(t *testing.T) {
	for _, most := range []int{1, 2, 100, 5000} {
		l := newLab(t, denycache.Config{MaxKeys: most, MaxAge: time.Hour})
		minute := l.space("minute", ratelimit.PerMinute(1))
		l.flood(minute, 0, 3*most)
		s := l.cache.Stats()
		if s.Keys > int64(most) || s.Keys < int64(most)*9/10 || s.Evictions != int64(3*most)-s.Keys {
			t.Errorf("%d keys denied, MaxKeys %d: %+v", 3*most, most, s)
		}
		l.clock.Advance(time.Minute)
		l.flood(minute, 3*most, most)
		if after := l.cache.Stats(); after.Keys > int64(most) {
			t.Errorf("MaxKeys %d: %+v", most, after)
		}
	}
}

// What ends soonest goes first: bans of an hour survive a flood of denials of a second.
func TestLongDenialsOutliveFlood(t *testing.T) {
	l := newLab(t, denycache.Config{MaxKeys: 1000, MaxAge: time.Hour})
	hour, second := l.space("hour", ratelimit.PerHour(1)), l.space("second", ratelimit.PerSecond(1))
	l.flood(hour, 0, 100)
	l.flood(second, 0, 3000)
	before := l.cache.Stats().Hits
	for i := range 100 {
		l.take(key(on(hour, 1), strconv.Itoa(i)))
	}
	if hits := l.cache.Stats().Hits - before; hits < 99 {
		t.Errorf("%d of 100 long denials survived", hits)
	}
}

// What is over goes before what is in force, and is swept as calls come.
func TestSweep(t *testing.T) {
	l := newLab(t, denycache.Config{MaxKeys: 1000, MaxAge: time.Hour})
	minute, hour := l.space("minute", ratelimit.PerMinute(1)), l.space("hour", ratelimit.PerHour(1))
	l.flood(minute, 0, 500)
	l.flood(hour, 0, 200)
	l.clock.Advance(time.Minute)
	l.flood(hour, 200, 800) // 1,600 calls
	if s := l.cache.Stats(); s.Keys != 1000 || s.Evictions != 0 {
		t.Errorf("%+v, want the 1,000 denials that are in force", s)
	}
	l.clock.Advance(time.Hour)
	for range 2000 {
		l.take(on(hour, 0))
	}
	if s := l.cache.Stats(); s.Keys != 0 || s.Evictions != 0 {
		t.Errorf("%+v after all are over and 2,000 calls, want none", s)
	}
	l.flood(hour, 0, 10)
	if s := l.cache.Stats(); s.Keys != 10 {
		t.Errorf("%+v, want 10 keys", s)
	}
}

// A denial that is over counts as no eviction, wherever the sweep is just then.
func TestDisplacesWhatIsOver(t *testing.T) {
	for ahead := range 4 {
		l := newLab(t, denycache.Config{MaxKeys: 1000, MaxAge: time.Hour})
		minute, hour := l.space("minute", ratelimit.PerMinute(1)), l.space("hour", ratelimit.PerHour(1))
		l.flood(hour, 0, 500)
		l.flood(minute, 0, 500)
		for range ahead * 250 {
			l.take(on(hour, 0))
		}
		l.clock.Advance(time.Minute)
		l.flood(hour, 500, 100)
		if s := l.cache.Stats(); s.Evictions > 10 { // a sample of eight misses half of all once in 256
			t.Errorf("%+v, want what is over to go first", s)
		}
	}
}
