package algorithm

// Penalty is a ban after Denials within Within; all times are µs.
type Penalty struct {
	Denials, Within, Ban, Max int64
	Factor                    float64
}

// Ban is the last ban of a key, and how many there were in a row.
type Ban struct{ Until, Count int64 }

// MaxBans is where Count stops, and with it the growth of bans.
const MaxBans = 1<<10 - 1

// Length returns how long a ban lasts after n earlier ones.
func (p *Penalty) Length(n int64) int64 {
	length := float64(p.Ban)
	if p.Factor > 1 {
		for range n {
			if length *= p.Factor; length >= float64(p.Max) {
				return p.Max
			}
		}
	}
	return int64(length)
}

// Strike looks whether a key is banned and, where count is set and it is not,
// counts a denial. Unlike all others it writes on a denial, so that bans come, and
// not during a ban, so that they end under traffic. It returns how many of the
// oldest strikes no longer count, the ban in force or remembered, and whether a
// denial was counted: as a strike to append or, where not Allowed, as a ban.
func Strike(l *Log, b Ban, last int64, p *Penalty, now int64, count bool, out *Answer) (gone int, ban Ban, counted bool) {
	a := Ask{Now: now, Window: p.Within, Quota: p.Denials}
	at := now
	if last > now {
		if Stale(last, now, p.Within) {
			gone, b = l.Len, Ban{}
		} else {
			at = last
		}
	}
	if at >= p.Forgotten(b) {
		b = Ban{}
	}
	if gone == 0 {
		gone = l.After(at - p.Within)
	}
	used := l.UpTo(l.Len) - l.UpTo(gone)
	banned := at < b.Until
	if count && !banned {
		counted = true
		if used++; used >= p.Denials {
			b = Ban{Until: at + p.Length(b.Count), Count: min(b.Count+1, MaxBans)}
			gone, used, banned = l.Len, 0, true
		}
	}
	*out = Answer{Allowed: !banned, At: at, Used: used, Remaining: max(0, p.Denials-used)}
	if used > 0 {
		next, newest := at, l.Last()
		if counted {
			newest = at
		}
		if i := l.holding(gone, used-min(used, p.Denials)+1); i < l.Len {
			next = l.At(i)
		}
		out.Next = a.told(next+p.Within-at, at)
		out.Reset = a.told(newest+p.Within-at, at)
	}
	if b.Count > 0 {
		out.Reset = max(out.Reset, a.told(p.Forgotten(b)-at, at))
	}
	if banned {
		out.Remaining = 0
		out.Retry = a.told(b.Until-at, at)
		out.Next = out.Retry
	}
	return gone, b, counted
}

// Forgotten returns the instant at which a ban no longer makes the next one longer:
// it has been over for as long as it lasted, and at least for Within.
func (p *Penalty) Forgotten(b Ban) int64 {
	if b.Count == 0 {
		return 0
	}
	return b.Until + max(p.Within, p.Length(b.Count-1))
}
