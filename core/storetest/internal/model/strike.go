package model

import (
	"math"
	"slices"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// record is what is remembered of a key's denials and bans.
type record struct {
	strikes []entry
	last    int64 // the newest counted denial
	until   int64 // the end of the last ban; 0 where there was none
	length  int64 // of the last ban
	bans    int   // remembered
}

func (r *record) clone() *record { c := *r; c.strikes = slices.Clone(r.strikes); return &c }

// remembered returns the instant at which earlier bans are forgotten.
func (r *record) remembered(p *ratelimit.Penalty) int64 {
	if r.bans == 0 {
		return 0
	}
	return r.until + max(micros(p.Within), r.length)
}

// forgotten returns the instant from which nothing is remembered, at least at.
func (r *record) forgotten(p *ratelimit.Penalty, at int64) int64 {
	end := max(at, r.remembered(p))
	for _, e := range r.strikes {
		end = max(end, e.at+micros(p.Within))
	}
	return end
}

// strike counts one denial.
func (r *record) strike(p *ratelimit.Penalty, at int64) {
	r.strikes = append(slices.Clone(after(r.strikes, at-micros(p.Within))), entry{at, 1})
	r.last = at
	if at >= r.remembered(p) {
		r.bans = 0
	}
	if sum(r.strikes) < p.Denials {
		return
	}
	r.length = banLength(p, r.bans)
	r.until = at + r.length
	r.bans++
	r.strikes = nil
}

// banLength returns the length in µs of a ban after n earlier ones.
func banLength(p *ratelimit.Penalty, n int) int64 {
	factor, most := p.Factor, p.Max
	if factor == 0 {
		factor = 1
	}
	if most == 0 {
		most = ratelimit.MaxWindow
		if factor == 1 {
			most = p.Ban
		}
	}
	length := float64(micros(p.Ban))
	for range n {
		length *= factor
		if length >= float64(micros(most)) {
			return micros(most)
		}
	}
	return int64(math.Floor(min(length, float64(micros(most)))))
}

// result returns the numbers of a key at an instant, told from now.
func (r *record) result(p *ratelimit.Penalty, at, now int64) ratelimit.Result {
	out := ratelimit.Result{Allowed: true, Receipt: ratelimit.Receipt{At: at}}
	out.ResetAfter = told(r.forgotten(p, at)-at, at, now)
	if at < r.until {
		out.Allowed = false
		out.RetryAfter = told(r.until-at, at, now)
		out.NextAfter = out.RetryAfter
		return out
	}
	live := after(r.strikes, at-micros(p.Within))
	out.Used = sum(live)
	out.Remaining = max(0, p.Denials-out.Used)
	if len(live) > 0 {
		out.NextAfter = told(live[0].at+micros(p.Within)-at, at, now)
	}
	return out
}
