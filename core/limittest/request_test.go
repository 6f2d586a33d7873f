package limittest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/core/limittest"
)

type ctxKey struct{}

func TestRequestShowsWhatItHolds(t *testing.T) {
	r := ratelimit.NewRequest(limittest.Request{
		Peer: "203.0.113.7", Method: "POST", Host: "api.test", Path: "/users/7", Route: "/users/{id}",
		RawQuery: "q=1", Header: http.Header{"X-Many": {"one", "two"}}, PathValues: map[string]string{"id": "7"},
		ContentLength: 5, Values: map[any]any{"user": "ann"}, Native: t,
		Context: context.WithValue(t.Context(), ctxKey{}, "from the context"),
	}.View())

	second, _ := r.HeaderLine("x-many", 1)
	query, _ := r.Query("q")
	length, known := r.ContentLength()
	for what, pair := range map[string][2]any{
		"peer":       {r.Peer().String(), "203.0.113.7:0"},
		"method":     {r.Method(), "POST"},
		"host":       {r.Host(), "api.test"},
		"path":       {r.Path(), "/users/7"},
		"route":      {r.Route(), "/users/{id}"},
		"query":      {query, "1"},
		"header":     {second, "two"},
		"path value": {r.PathValue("id"), "7"},
		"length":     {length, int64(5)},
		"known":      {known, true},
		"value":      {r.Value("user"), "ann"},
		"context's":  {r.Value(ctxKey{}), "from the context"},
		"native":     {r.Native(), t},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

func TestZeroRequestHasNothing(t *testing.T) {
	view := limittest.Request{ContentLength: -1}.View()
	for what := ratelimit.TextMethod; what <= ratelimit.TextContentLength+1; what++ {
		if text, ok := view.Text(what, "name", 0); ok {
			t.Errorf("text %d is %q", what, text)
		}
	}
	if view.Peer().IsValid() || view.Value("k") != nil || view.Native() != nil || view.Context() == nil {
		t.Error("the zero request has something")
	}
}

func TestKeyAndCostReturnErrors(t *testing.T) {
	noKey := func(dst []byte, _ ratelimit.Request) ([]byte, error) { return dst, ratelimit.ErrNoKey }
	if _, err := limittest.Key(noKey, limittest.Request{}); !errors.Is(err, ratelimit.ErrNoKey) {
		t.Errorf("key: %v", err)
	}
	failed := errors.New("failed")
	if _, err := limittest.Cost(func(ratelimit.Request) (int64, error) { return 0, failed }, limittest.Request{}); !errors.Is(err, failed) {
		t.Errorf("cost: %v", err)
	}
}
