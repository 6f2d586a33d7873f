package algorithm

import (
	"math"
	"math/big"
	"testing"
)

// corners are the numbers around which a carry, a limb or a bound changes.
var corners = []int64{
	0, 1, 2, 3, 7, 999, 1000, 1001, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32,
	1<<45 - 1, 1 << 45, 1<<53 - 1, 1 << 53, 31_622_400_000_000, 1 << 62, math.MaxInt64 - 1, math.MaxInt64,
}

func checkMuldiv(t *testing.T, a, b, c, d int64) {
	t.Helper()
	exact := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	exact.Add(exact, big.NewInt(c))
	wantQ, wantR := exact.QuoRem(exact, big.NewInt(d), new(big.Int))
	q, r := muldiv(a, b, c, d)
	up := muldivUp(a, b, c, d)
	if !wantQ.IsInt64() {
		if q != math.MaxInt64 || up != math.MaxInt64 {
			t.Errorf("(%d·%d + %d) / %d = %d, up %d; want the largest", a, b, c, d, q, up)
		}
		return
	}
	if q != wantQ.Int64() || r != wantR.Int64() {
		t.Errorf("(%d·%d + %d) / %d = %d remainder %d, want %d and %d", a, b, c, d, q, r, wantQ, wantR)
	}
	wantUp := wantQ.Int64()
	if r > 0 && wantUp < math.MaxInt64 {
		wantUp++
	}
	if up != wantUp {
		t.Errorf("(%d·%d + %d) / %d rounded up = %d, want %d", a, b, c, d, up, wantUp)
	}
}

func TestMuldivCorners(t *testing.T) {
	for _, a := range corners {
		for _, b := range corners {
			for _, c := range corners {
				for _, d := range corners[1:] {
					checkMuldiv(t, a, b, c, d)
				}
			}
		}
	}
}

func FuzzMuldiv(f *testing.F) {
	f.Add(int64(1<<31), int64(31_622_400_000_000), int64(31_622_399_999_999), int64(1<<31-1))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, a, b, c, d int64) {
		const positive = math.MaxInt64
		checkMuldiv(t, a&positive, b&positive, c&positive, max(1, d&positive))
	})
}

func TestCeilDiv(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{
		{0, 1, 0},
		{1, 1, 1},
		{1, 2, 1},
		{2, 2, 1},
		{3, 2, 2},
		{999, 1000, 1},
		{1000, 1000, 1},
		{1001, 1000, 2},
		{-1, 1000, 0},
		{-999, 1000, 0},
	} {
		if got := ceilDiv(c.a, c.b); got != c.want {
			t.Errorf("%d / %d rounded up: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// A bucket's level at any later instant, and the wait for it to drain, against
// exact fractions.
func FuzzDrain(f *testing.F) {
	f.Add(int64(10), int64(0), int64(60_000_000), int64(10), int64(6_000_000))
	f.Add(int64(MaxLevel), int64(31_622_399_999_999), int64(31_622_400_000_000), int64(1<<31), int64(1<<53-1))
	f.Add(int64(1), int64(1), int64(1000), int64(1<<31), int64(1))
	f.Fuzz(func(t *testing.T, u, part, window, quota, gone int64) {
		a := Ask{Window: 1000 + window&(1<<45-1)%31_622_399_999_001, Quota: 1 + quota&(1<<31-1)}
		u &= MaxLevel
		part &= math.MaxInt64
		part %= a.Window
		gone &= 1<<53 - 1
		s := State{Last: 1000, Units: u, Part: part}

		// level = u + part/W − gone·N/W, in 1/W units
		w := big.NewInt(a.Window)
		level := new(big.Int).Mul(big.NewInt(u), w)
		level.Add(level, big.NewInt(part))
		wait := new(big.Int).Add(level, big.NewInt(a.Quota-1)) // ceil(level·W/N/W): in µs
		wait.Quo(wait, big.NewInt(a.Quota))
		level.Sub(level, new(big.Int).Mul(big.NewInt(gone), big.NewInt(a.Quota)))
		if level.Sign() < 0 {
			level.SetInt64(0)
		}
		wantU, wantF := new(big.Int).QuoRem(level, w, new(big.Int))

		gotU, gotF := drain(s, s.Last+gone, &a)
		if gotU != wantU.Int64() || gotF != wantF.Int64() {
			t.Errorf("%d + %d/%d after %d at %d: %d + %d, want %d + %d", u, part, a.Window, gone, a.Quota, gotU, gotF, wantU, wantF)
		}
		if wait.IsInt64() && wait.Int64() < 1<<62 {
			if got := drainTime(u, part, &a); got != wait.Int64() {
				t.Errorf("%d + %d/%d drain at %d in %d, want %d", u, part, a.Window, a.Quota, got, wait)
			}
		} else if got := drainTime(u, part, &a); got != 1<<62 {
			t.Errorf("%d + %d/%d drain at %d in %d, want the longest", u, part, a.Window, a.Quota, got)
		}
	})
}
