package std_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/ratelimit/adapters/internal/std"
	ratelimit "github.com/weirhq/ratelimit/core"
)

func TestRecordAllocs(t *testing.T) {
	var w http.ResponseWriter = all{httptest.NewRecorder()}
	for want, ticket := range map[float64]*ratelimit.Ticket{0: ticket(t, nil), 2: asking(t)} {
		var recorded http.ResponseWriter
		if got := testing.AllocsPerRun(100, func() { recorded, _ = std.Record(w, ticket) }); got != want {
			t.Errorf("%v allocations, want %v", got, want)
		}
		recorded.Header()
	}
}
