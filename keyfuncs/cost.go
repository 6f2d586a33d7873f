package keyfuncs

import (
	"slices"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Fixed returns a cost function by which every request costs n units, 0 to
// [ratelimit.MaxQuota]: for a policy on what is dearer than the rest.
func Fixed(n int64) ratelimit.CostFunc {
	if !isCost(n) {
		panic(mistake("Fixed", "must be 0 to %d, is %d", int64(ratelimit.MaxQuota), n))
	}
	return func(ratelimit.Request) (int64, error) { return n, nil }
}

// BodySize returns a cost function by which a request costs one unit for each
// unit bytes of its body, rounded up: at least 1, at most most.
//
// A body whose size is not announced (chunked) costs most, or else leaving out
// Content-Length would be a discount. A limit's capacity below most denies such
// requests for good.
func BodySize(unit, most int64) ratelimit.CostFunc {
	if unit < 1 {
		panic(mistake("BodySize", "needs a unit of at least 1 byte, has %d", unit))
	}
	if most < 1 || most > ratelimit.MaxQuota {
		panic(mistake("BodySize", "must cost at most 1 to %d, is %d", int64(ratelimit.MaxQuota), most))
	}
	return func(r ratelimit.Request) (int64, error) {
		size, known := r.ContentLength()
		if !known {
			return most, nil
		}
		cost := size / unit
		if size%unit != 0 {
			cost++
		}
		return min(max(cost, 1), most), nil
	}
}

// Product returns a cost function by which a request costs the product of all
// factors: by route and by size, say. A product above [ratelimit.MaxQuota] costs
// just that. A factor's error is returned, and so is a negative factor: two of them
// do not make a cost.
func Product(factors ...ratelimit.CostFunc) ratelimit.CostFunc {
	if len(factors) == 0 {
		panic(mistake("Product", "needs at least one cost function"))
	}
	if i := slices.IndexFunc(factors, func(f ratelimit.CostFunc) bool { return f == nil }); i >= 0 {
		panic(mistake("Product", "has no cost function at position %d", i))
	}
	factors = slices.Clone(factors)
	return func(r ratelimit.Request) (int64, error) {
		product := int64(1)
		for _, factor := range factors {
			n, err := factor(r)
			if err != nil || n < 0 {
				return n, err
			}
			product = min(product*min(n, ratelimit.MaxQuota), ratelimit.MaxQuota) // at most 2^62 before min
		}
		return product, nil
	}
}

// isCost reports whether n may be what a request costs.
func isCost(n int64) bool { return 0 <= n && n <= ratelimit.MaxQuota }
