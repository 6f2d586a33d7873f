package model

import "math/big"

func num(n int64) *big.Int { return big.NewInt(n) }

func add(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }

func sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

func mul(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }

// floorDiv returns a/b rounded down, for b above 0.
func floorDiv(a, b *big.Int) *big.Int { return new(big.Int).Div(a, b) }

// ceilDiv returns a/b rounded up, for b above 0.
func ceilDiv(a, b *big.Int) *big.Int {
	return floorDiv(add(a, sub(b, num(1))), b)
}

func lesser(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// positive returns a, or 0 where it is negative.
func positive(a *big.Int) *big.Int {
	if a.Sign() < 0 {
		return new(big.Int)
	}
	return a
}

// clip returns a as an int64 from 0 to beyond.
func clip(a *big.Int) int64 {
	switch {
	case a.Sign() <= 0:
		return 0
	case !a.IsInt64():
		return beyond
	default:
		return min(a.Int64(), beyond)
	}
}
