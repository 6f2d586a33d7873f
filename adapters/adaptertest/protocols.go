package adaptertest

import (
	"net/http"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// protocols: the same over HTTP/2, many requests at once on one connection.
func protocols() []testCase {
	return []testCase{
		{name: "HTTP/2", needs: HTTP2, run: http2},
	}
}

func http2(s *suite) {
	c := s.serve(one(s.limits(forAll("api", ratelimit.PerMinute(20)))))
	c.speakHTTP2()

	c.get("/").is(http.StatusOK, "ok", headers{
		"X-Ratelimit-Limit": "20", "X-Ratelimit-Remaining": "19", "X-Ratelimit-Reset": "1767225603",
	})
	if allowed, denied := c.atOnce(40); allowed != 19 || denied != 21 {
		s.Errorf("%d allowed, %d denied; want 19 and 21", allowed, denied)
	}
	c.get("/").is(http.StatusTooManyRequests, `{"error":"rate_limit_exceeded","retry_after":3}`, headers{
		"X-Ratelimit-Limit": "20", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1767225660",
		"Retry-After": "3", "Cache-Control": "no-store",
		"Content-Type": "application/json", "Content-Length": "47",
	})
}
