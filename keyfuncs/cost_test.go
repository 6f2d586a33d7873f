package keyfuncs_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	ratelimit "github.com/weirhq/ratelimit/core"
	"github.com/weirhq/ratelimit/keyfuncs"
)

// costs is a map as the tables take it.
type costs = map[string]int64

// charge is a cost function with one answer.
func charge(n int64, err error) ratelimit.CostFunc {
	return func(ratelimit.Request) (int64, error) { return n, err }
}

func TestCosts(t *testing.T) {
	byMethod := keyfuncs.CostByMethod(costs{"GET": 0, "POST": 5}, 2)
	byRoute := keyfuncs.CostByRoute(costs{"/search": 10, "/users/{id}": ratelimit.MaxQuota, "/health": 0}, 1)
	bySize := keyfuncs.BodySize(1000, 10)
	const most = ratelimit.MaxQuota
	for _, c := range []struct {
		name string
		cost ratelimit.CostFunc
		view *view
		want int64
		err  error
	}{
		{"fixed", keyfuncs.Fixed(most), with(), most, nil},
		{"fixed at nothing", keyfuncs.Fixed(0), with(), 0, nil},

		{"method", byMethod, with(method("POST")), 5, nil},
		{"method at nothing", byMethod, with(method("GET")), 0, nil},
		{"HEAD as GET", byMethod, with(method("HEAD")), 0, nil},
		{"HEAD of its own", keyfuncs.CostByMethod(costs{"GET": 5, "HEAD": 1}, 2), with(method("HEAD")), 1, nil},
		{"HEAD without GET", keyfuncs.CostByMethod(costs{"POST": 5}, 2), with(method("HEAD")), 2, nil},
		{"another method", byMethod, with(method("PUT")), 2, nil},
		{"method in lower case", byMethod, with(method("post")), 2, nil},
		{"no method", byMethod, with(method("")), 2, nil},

		{"route", byRoute, with(route("/search")), 10, nil},
		{"route at most", byRoute, with(route("/users/{id}")), most, nil},
		{"route at nothing", byRoute, with(route("/health")), 0, nil},
		{"another route", byRoute, with(route("/search/")), 1, nil},
		{"no route", byRoute, with(), 1, nil},

		{"size not known", bySize, with(body(-1)), 10, nil},
		{"no body", bySize, with(body(0)), 1, nil},
		{"a byte", bySize, with(body(1)), 1, nil},
		{"a whole unit", bySize, with(body(1000)), 1, nil},
		{"a byte more", bySize, with(body(1001)), 2, nil},
		{"up to most", bySize, with(body(9001)), 10, nil},
		{"above most", bySize, with(body(1 << 62)), 10, nil},

		{"product of one", keyfuncs.Product(byMethod), with(method("POST")), 5, nil},
		{"product", keyfuncs.Product(byMethod, byRoute, bySize), with(method("POST"), route("/search"), body(2500)), 150, nil},
		{"product with nothing", keyfuncs.Product(byRoute, byMethod), with(method("GET"), route("/search")), 0, nil},
		{"product just at most", keyfuncs.Product(charge(1<<16, nil), charge(1<<15, nil)), with(), most, nil},
		{"product just above", keyfuncs.Product(charge(3, nil), charge(most/3+1, nil)), with(), most, nil},
		{"product of the largest", keyfuncs.Product(charge(most, nil), charge(most, nil), charge(most, nil)), with(), most, nil},
		{"product beyond int64", keyfuncs.Product(charge(math.MaxInt64, nil), charge(math.MaxInt64, nil)), with(), most, nil},
		{"a large product with nothing", keyfuncs.Product(charge(most, nil), charge(most, nil), charge(0, nil)), with(), 0, nil},
		{"a negative factor", keyfuncs.Product(charge(2, nil), charge(-3, nil), charge(-4, nil)), with(), -3, nil},
		{"a negative factor after nothing", keyfuncs.Product(charge(0, nil), charge(-3, nil)), with(), -3, nil},
		{"a broken factor", keyfuncs.Product(charge(0, nil), charge(7, errBroken)), with(), 7, errBroken},
	} {
		got, err := c.cost(ratelimit.NewRequest(c.view))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, got, err, c.want, c.err)
		}
	}
}

// A cost function does not change with what it was made of.
func TestCostsAreCopied(t *testing.T) {
	methods, routes, factors := costs{"GET": 3}, costs{"/": 5}, []ratelimit.CostFunc{charge(7, nil)}
	all := []ratelimit.CostFunc{keyfuncs.CostByMethod(methods, 1), keyfuncs.CostByRoute(routes, 1), keyfuncs.Product(factors...)}
	if len(methods) != 1 {
		t.Errorf("the map of methods is now %v", methods)
	}
	methods["GET"], routes["/"], factors[0] = 99, 99, nil

	var got []int64
	for _, cost := range all {
		n, _ := cost(ratelimit.NewRequest(with(method("GET"), route("/"))))
		got = append(got, n)
	}
	if diff := cmp.Diff([]int64{3, 5, 7}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCostMistakes(t *testing.T) {
	for want, build := range map[string]func(){
		"ratelimit: keyfuncs.Fixed must be 0 to 2147483648, is -1":                                  func() { keyfuncs.Fixed(-1) },
		"ratelimit: keyfuncs.BodySize needs a unit of at least 1 byte, has 0":                       func() { keyfuncs.BodySize(0, 1) },
		"ratelimit: keyfuncs.BodySize must cost at most 1 to 2147483648, is 0":                      func() { keyfuncs.BodySize(1, 0) },
		"ratelimit: keyfuncs.BodySize must cost at most 1 to 2147483648, is 99999999999":            func() { keyfuncs.BodySize(1, 99999999999) },
		"ratelimit: keyfuncs.Product needs at least one cost function":                              func() { keyfuncs.Product() },
		"ratelimit: keyfuncs.Product has no cost function at position 1":                            func() { keyfuncs.Product(keyfuncs.Fixed(1), nil) },
		"ratelimit: keyfuncs.CostByMethod needs at least one cost: Fixed is for one that all share": func() { keyfuncs.CostByMethod(nil, 1) },
		"ratelimit: keyfuncs.CostByMethod otherwise must cost 0 to 2147483648, is -1":               func() { keyfuncs.CostByMethod(costs{"GET": 1}, -1) },
		`ratelimit: keyfuncs.CostByMethod has "", which is no method in upper case`:                 func() { keyfuncs.CostByMethod(costs{"": 1}, 1) },
		`ratelimit: keyfuncs.CostByMethod has "get", which is no method in upper case` + "\n" +
			`ratelimit: keyfuncs.CostByMethod has a cost for "get" that must be 0 to 2147483648, is -1`: func() { keyfuncs.CostByMethod(costs{"get": -1}, 1) },
		`ratelimit: keyfuncs.CostByRoute has "", which is no route`:                                                                               func() { keyfuncs.CostByRoute(costs{"": 1}, 1) },
		`ratelimit: keyfuncs.CostByRoute has "POST /users", but a route's pattern has no method here: Product with CostByMethod tells them apart`: func() { keyfuncs.CostByRoute(costs{"POST /users": 1}, 1) },
		`ratelimit: keyfuncs.CostByRoute has a cost for "/a" that must be 0 to 2147483648, is -1` + "\n" +
			`ratelimit: keyfuncs.CostByRoute has a cost for "/b" that must be 0 to 2147483648, is 2147483649` + "\n" +
			"ratelimit: keyfuncs.CostByRoute otherwise must cost 0 to 2147483648, is 2147483649": func() {
			keyfuncs.CostByRoute(costs{"/b": ratelimit.MaxQuota + 1, "/a": -1, "/c": 0}, ratelimit.MaxQuota+1)
		},
	} {
		err := panicOf(t, build)
		var config *ratelimit.ConfigError
		if !errors.As(err, &config) || err.Error() != want {
			t.Errorf("panic with %v, want %s", err, want)
		}
	}
}
