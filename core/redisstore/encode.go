package redisstore

import (
	"encoding/binary"
	"math"
	"time"

	ratelimit "github.com/weirhq/ratelimit/core"
)

// Instants and waits are exact below 2^53 µs, and so are all numbers in a script.
const most = 1<<53 - 1

// What a script is told. A key's kind is that of its limit's algorithm, or penaltyKind.
// A kind's bit says that the call has keys of it, spillBit that it has a Spill.
const (
	penaltyKind = 6
	spillBit    = 1 << 7

	callTake   = 0
	callDenied = 1 // a Take that was denied in another slot
	callAdjust = 2
)

// encoder packs what a script is asked: all numbers as doubles, little-endian.
type encoder struct {
	prefix string
	now    func() time.Time // nil: the server's clock
	spaces *spaces
}

func newEncoder(prefix string, now func() time.Time, spaces *spaces) encoder {
	return encoder{prefix, now, spaces}
}

// take packs a Take of opened spaces. Where over is set, it was denied in another slot:
// nothing but strikes will be written.
func (e *encoder) take(c *call, charges []ratelimit.Charge, over bool) {
	var room [512]byte // a usual Take's, so that it is not allocated
	kind := callTake
	if over {
		kind = callDenied
	}
	kinds := 0
	for i := range charges {
		kinds |= 1 << kindOf(charges[i].Space, &charges[i].Limit)
		if charges[i].Mode == ratelimit.Spill {
			kinds |= spillBit
		}
	}
	b := e.header(room[:0], kind, kinds)
	for i := range charges {
		b = e.charge(b, &charges[i])
	}
	c.script, c.arg = takeScript(), string(b)
	e.keys(c, len(charges), func(i int) (*ratelimit.Space, []byte) { return charges[i].Space, charges[i].Key })
}

// adjust packs adjustments of opened spaces.
func (e *encoder) adjust(c *call, adjustments []ratelimit.Adjustment) {
	var room [512]byte
	kinds := 0
	for i := range adjustments {
		kinds |= 1 << kindOf(adjustments[i].Space, &adjustments[i].Limit)
	}
	b := e.header(room[:0], callAdjust, kinds)
	for i := range adjustments {
		a := &adjustments[i]
		b = appendLimit(b, int(a.Op), &a.Limit)
		b = appendNumbers(b, float64(a.Units), float64(a.Receipt.At), float64(a.Receipt.Units), float64(a.Receipt.End))
	}
	c.script, c.arg = adjustScript(), string(b)
	e.keys(c, len(adjustments), func(i int) (*ratelimit.Space, []byte) { return adjustments[i].Space, adjustments[i].Key })
}

func kindOf(space *ratelimit.Space, l *ratelimit.Limit) int {
	if space.Penalty != nil {
		return penaltyKind
	}
	return int(l.Algorithm) % penaltyKind // a Reset's limit may be anything
}

// header appends what is told once: the instant, or -1 where the server's clock counts,
// what kind of call it is, and the kinds of its keys.
func (e *encoder) header(b []byte, call, kinds int) []byte {
	now := -1.0
	if e.now != nil {
		now = float64(min(max(e.now().UnixMicro(), 0), most))
	}
	return appendNumbers(b, now, float64(call), float64(kinds))
}

func (e *encoder) charge(b []byte, c *ratelimit.Charge) []byte {
	if penalty, _ := e.spaces.find(c.Space); penalty != nil {
		mode := int(c.Mode)
		if c.Cost == 0 {
			mode++ // only looks
		}
		return appendNumbers(b, float64(penaltyKind+8*mode), float64(penalty.Denials),
			micros(penalty.Within), micros(penalty.Ban), micros(penalty.Max), penalty.Factor)
	}
	b = appendLimit(b, int(c.Mode), &c.Limit)
	return appendNumbers(b, float64(c.Cost), min(micros(max(0, c.MaxDelay)), most))
}

// appendLimit appends a limit, and how it is used: a Mode or an Op.
func appendLimit(b []byte, use int, l *ratelimit.Limit) []byte {
	return appendNumbers(b, float64(int(l.Algorithm)%penaltyKind+8*use), float64(l.Quota), micros(l.Window), float64(l.Capacity()))
}

func micros(d time.Duration) float64 { return float64(d / time.Microsecond) }

// keys fills in the keys as stored. They are parts of one string.
func (e *encoder) keys(c *call, n int, key func(i int) (*ratelimit.Space, []byte)) {
	var room [512]byte
	b, ends := room[:0], make([]int, 0, 8)
	for i := range n {
		space, k := key(i)
		b = appendKey(b, e.prefix, space, k)
		ends = append(ends, len(b))
	}
	text, from := string(b), 0
	c.keys = make([]string, n)
	for i, end := range ends {
		c.keys[i], from = text[from:end], end
	}
}

func appendNumbers(b []byte, numbers ...float64) []byte {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n))
	}
	return b
}
