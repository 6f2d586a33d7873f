package denycache

import "hash/maphash"

// fingerprint stands for a key of a space. Its seeds cannot be known to a client, so
// no two keys that it can make up meet.
type fingerprint [2]uint64

// seeds make fingerprints: of a prefix and of a key, for each half.
type seeds [2]struct{ prefix, key maphash.Seed }

func newSeeds() (s seeds) {
	for i := range s {
		s[i].prefix, s[i].key = maphash.MakeSeed(), maphash.MakeSeed()
	}
	return s
}

func (s *seeds) of(prefix, key []byte) (f fingerprint) {
	for i := range s {
		f[i] = maphash.Bytes(s[i].prefix, prefix) ^ maphash.Bytes(s[i].key, key)
	}
	return f
}
