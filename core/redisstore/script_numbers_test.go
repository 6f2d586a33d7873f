package redisstore

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

// divisions asks numbers.lua for the quotient and remainder of (a·b + c) / d.
const divisions = `
local out = {}
for i = 1, #ARGV, 4 do
  local q, r = muldiv(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]))
  out[#out + 1] = string.format('%.0f', math.min(q, 2 ^ 53))
  out[#out + 1] = string.format('%.0f', r)
end
return out
`

func TestMuldivIsExact(t *testing.T) {
	servers := map[string]func(testing.TB) *redis.Client{"redis": startRedis, "miniredis": startMiniredis}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			client := start(t)
			cases := corners()
			for len(cases) > 0 {
				n := min(len(cases), 500)
				checkDivisions(t, client, cases[:n])
				cases = cases[n:]
			}
		})
	}
}

// corners returns a, b, c and d from all ends of their ranges: units and quotas to 2^32,
// windows to 366 days in µs, waits below 2^53.
func corners() [][4]int64 {
	const window, wait = 366 * 24 * 3600 * 1_000_000, 1<<53 - 1
	units := []int64{0, 1, 2, 3, 7, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}
	windows := []int64{1000, 1001, 7777, 1_000_000, 3_600_000_000, 1<<44 - 1, window - 1, window}
	var out [][4]int64
	for _, w := range windows {
		for _, n := range units[1:8] {
			for _, u := range units {
				out = append(out, [4]int64{u, w, w - 1, n}, [4]int64{u, w, 0, n}, [4]int64{u, w - 1, 0, w})
			}
			for _, t := range []int64{0, 1, w / 2, w - 1, w, wait / 3, wait} {
				out = append(out, [4]int64{t, n, 0, w})
			}
		}
		for _, previous := range units[1:] {
			out = append(out, [4]int64{previous, w, 0, previous}, [4]int64{previous - 1, w, 0, previous}, [4]int64{1, w, 0, previous})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	below := func(most int64) int64 { return 1 + (random.Int64()>>random.IntN(62))%most }
	for range 4000 {
		w, n := below(window), below(1<<31)
		out = append(out,
			[4]int64{below(1 << 32), w, random.Int64N(w), n}, [4]int64{below(w), n, 0, w}, [4]int64{below(wait), n, 0, w})
	}
	return out
}

func checkDivisions(t *testing.T, client *redis.Client, cases [][4]int64) {
	t.Helper()
	args := make([]any, 0, 4*len(cases))
	for _, c := range cases {
		for _, n := range c {
			args = append(args, n)
		}
	}
	told, err := client.Eval(t.Context(), luaFile("numbers")+divisions, nil, args...).StringSlice()
	if err != nil {
		t.Fatal(err)
	}
	beyond := big.NewInt(1 << 53)
	for i, c := range cases {
		q, r := new(big.Int).Mul(big.NewInt(c[0]), big.NewInt(c[1])), new(big.Int)
		q.Add(q, big.NewInt(c[2]))
		q.DivMod(q, big.NewInt(c[3]), r)
		want, rest := q.String(), r.String()
		if q.Cmp(beyond) >= 0 {
			want, rest = strconv.FormatInt(1<<53, 10), told[2*i+1] // the remainder says nothing then
		}
		if told[2*i] != want || told[2*i+1] != rest {
			t.Errorf("(%d·%d + %d) / %d: want %s rest %s, got %s rest %s", c[0], c[1], c[2], c[3], want, rest, told[2*i], told[2*i+1])
		}
	}
}

// enlarge returns the numbers that it is sent times 2^200, all packed by the script's own
// struct.
const enlarge = `
local from, out = 1, ''
while from <= #ARGV[1] do
  out, from = out .. pack('<d', (read('<d', ARGV[1], from)) * 2 ^ 200), from + 8
end
return out
`

func TestNumbersTravelUnchanged(t *testing.T) {
	numbers := []float64{0, 1, -1, 2, 3, 0.5, 1.1, 1.5, 1e9, 255, 256, 65535, 1<<31 - 1, 1 << 32, 1<<47 - 1, 1<<52 + 1, 1<<53 - 1, 1 << 53, -(1 << 53), 1e-3}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		numbers = append(numbers, float64(random.Int64()>>random.IntN(63)), random.Float64()*1e9)
	}
	sent, want := appendNumbers(nil, numbers...), []byte(nil)
	for _, n := range numbers {
		want = appendNumbers(want, math.Ldexp(n, 200))
	}
	for name, client := range map[string]*redis.Client{"redis": startRedis(t), "miniredis": startMiniredis(t)} {
		got, err := client.Eval(t.Context(), luaFile("struct")+enlarge, nil, sent).Text()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got != string(want) {
			t.Errorf("%s: numbers came back changed", name)
		}
	}
}
