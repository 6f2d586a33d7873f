package algorithm

import (
	"math"
	"math/bits"
)

// muldiv returns the quotient and remainder of (a·b + c) / d, exact over 128 bits.
// A quotient beyond 64 bits is told as the largest.
func muldiv(a, b, c, d int64) (q, r int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(c), 0)
	hi += carry
	if hi == 0 {
		return clamp(lo / uint64(d)), int64(lo % uint64(d))
	}
	if hi >= uint64(d) {
		return math.MaxInt64, 0
	}
	uq, ur := bits.Div64(hi, lo, uint64(d))
	return clamp(uq), int64(ur)
}

// muldivUp is muldiv rounded up.
func muldivUp(a, b, c, d int64) int64 {
	q, r := muldiv(a, b, c, d)
	if r > 0 && q < math.MaxInt64 {
		q++
	}
	return q
}

// MulDiv returns a·b/d, rounded down; MulDivUp rounded up. What is beyond 63 bits is
// told as the largest number.
func MulDiv(a, b, d int64) int64 {
	q, _ := muldiv(a, b, 0, d)
	return q
}

// MulDivUp is MulDiv rounded up.
func MulDivUp(a, b, d int64) int64 { return muldivUp(a, b, 0, d) }

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

func clamp(u uint64) int64 { return int64(min(u, math.MaxInt64)) }
