package keyfuncs

import (
	"errors"
	"maps"
	"slices"
	"strings"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// CostByMethod returns a cost function by which a request costs what costs holds
// for its method, in upper case as "POST", and otherwise where it holds none. HEAD
// costs what GET does unless it is listed, since most routers run the same handler.
// Costs are 0 to [ratelimit.MaxQuota]; 0 charges nothing.
func CostByMethod(costs map[string]int64, otherwise int64) ratelimit.CostFunc {
	costs = checkedCosts("CostByMethod", costs, otherwise, func(method string) string {
		if !isToken(method) || method != strings.ToUpper(method) {
			return "which is no method in upper case"
		}
		return ""
	})
	if _, listed := costs["HEAD"]; !listed {
		if get, ok := costs["GET"]; ok {
			costs["HEAD"] = get
		}
	}
	return func(r ratelimit.Request) (int64, error) { return costIn(costs, r.Method(), otherwise), nil }
}

// CostByRoute returns a cost function by which a request costs what costs holds for
// the pattern of its route, as the router writes it: "/users/{id}" or "/users/:id",
// without method. It costs otherwise where costs holds none, and so does every
// request in a middleware that runs before the router. Costs are 0 to
// [ratelimit.MaxQuota]; 0 charges nothing.
func CostByRoute(costs map[string]int64, otherwise int64) ratelimit.CostFunc {
	costs = checkedCosts("CostByRoute", costs, otherwise, func(route string) string {
		first, _, found := strings.Cut(route, " ")
		switch {
		case route == "":
			return "which is no route"
		case found && isToken(first):
			return "but a route's pattern has no method here: Product with CostByMethod tells them apart"
		default:
			return ""
		}
	})
	return func(r ratelimit.Request) (int64, error) { return costIn(costs, r.Route(), otherwise), nil }
}

func costIn(costs map[string]int64, name string, otherwise int64) int64 {
	if cost, ok := costs[name]; ok {
		return cost
	}
	return otherwise
}

// checkedCosts returns a copy, which the caller's map can no longer change. It
// panics with all that is wrong; wrong says what is with a name, or "".
func checkedCosts(function string, costs map[string]int64, otherwise int64, wrong func(name string) string) map[string]int64 {
	var mistakes []error
	if len(costs) == 0 {
		mistakes = append(mistakes, mistake(function, "needs at least one cost: Fixed is for one that all share"))
	}
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		if why := wrong(name); why != "" {
			mistakes = append(mistakes, mistake(function, "has %q, %s", name, why))
		}
		if cost := costs[name]; !isCost(cost) {
			mistakes = append(mistakes, mistake(function, "has a cost for %q that must be 0 to %d, is %d", name, int64(ratelimit.MaxQuota), cost))
		}
	}
	if !isCost(otherwise) {
		mistakes = append(mistakes, mistake(function, "otherwise must cost 0 to %d, is %d", int64(ratelimit.MaxQuota), otherwise))
	}
	if err := errors.Join(mistakes...); err != nil {
		panic(err)
	}
	return maps.Clone(costs)
}
