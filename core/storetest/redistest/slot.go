package redistest

import "strings"

// Slots is how many slots the keys of a cluster fall into.
const Slots = 16384

// KeySlot returns the slot of a key, 0 to 16383. Of a key like "a{user}b" only what
// is in the first braces counts, unless they are empty.
func KeySlot(key string) int {
	if _, after, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(after, "}"); ok && tag != "" {
			key = tag
		}
	}
	var crc uint16 // CRC-16/XMODEM, as the cluster specification has it
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			top := crc >> 15
			crc = crc<<1 ^ top*0x1021
		}
	}
	return int(crc) % Slots
}
