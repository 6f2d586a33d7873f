package denycache

import (
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// ask is what was asked for: what is the same is denied the same. It is zero for a
// Strike, whose limit and cost do not matter.
type ask struct {
	limit    ratelimit.Limit
	cost     int64
	maxDelay time.Duration
}

func askOf(c *ratelimit.Charge) ask {
	if c.Mode == ratelimit.Strike {
		return ask{}
	}
	return ask{c.Limit, c.Cost, c.MaxDelay}
}

// denial is a charge that was denied. All instants are µs of the cache's clock. It
// holds no pointer, so that the collector does not scan it.
type denial struct {
	key      fingerprint
	ask      ask
	result   ratelimit.Result
	asked    int64 // not after the store decided
	answered int64 // not before the store decided
	end      int64 // from here on the store might admit, or MaxAge is over
}

// over reports whether the denial is in force no more. A clock that is before the
// denial stepped back.
func (d *denial) over(now int64) bool { return now < d.asked || now >= d.end }

// ban reports whether a Strike was denied.
func (d *denial) ban() bool { return d.ask == ask{} }

// tell writes the result as it is at a later instant. The waits count from when the
// store had answered, so that they suffice.
func (d *denial) tell(now int64, r *ratelimit.Result) {
	elapsed := now - d.answered
	*r = d.result
	r.RetryAfter = left(r.RetryAfter, elapsed)
	r.ResetAfter = left(r.ResetAfter, elapsed)
	r.NextAfter = left(r.NextAfter, elapsed)
	r.Now += elapsed
	at := r.Receipt.At + elapsed
	if d.result.Receipt.At > d.result.Now { // the last write's, which is later
		at = max(d.result.Receipt.At, r.Now)
	}
	r.Receipt = ratelimit.Receipt{At: at}
}

const longestWait = time.Microsecond << 53 // longer ones are told as this, or as Never

// left returns what is left of a wait.
func left(wait time.Duration, elapsed int64) time.Duration {
	if wait <= 0 || wait >= longestWait {
		return wait
	}
	return max(0, wait-time.Duration(elapsed)*time.Microsecond)
}
