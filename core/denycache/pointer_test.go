package denycache

import (
	"reflect"
	"testing"
)

// What the collector would scan is found in no denial.
func TestNoPointers(t *testing.T) {
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Struct:
			for f := range typ.Fields() {
				walk(path+"."+f.Name, f.Type)
			}
		case reflect.Array:
			walk(path+"[]", typ.Elem())
		case reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint64:
		default:
			t.Errorf("%s is a %v", path, typ.Kind())
		}
	}
	walk("denial", reflect.TypeFor[denial]())
	places := reflect.TypeFor[shard]()
	if f, ok := places.FieldByName("places"); ok {
		walk("places key", f.Type.Key())
		walk("places value", f.Type.Elem())
	}
}

// Two keys meet nowhere, wherever a prefix ends.
func TestFingerprints(t *testing.T) {
	s, other := newSeeds(), newSeeds()
	seen := map[uint64]string{}
	for _, k := range [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"ab", "c"}, {"a", "bc"}, {"c", "ab"}, {"a", "a"}, {"b", "b"}, {"\x00", ""}, {"", "\x00"}} {
		f := s.of([]byte(k[0]), []byte(k[1]))
		if f != s.of([]byte(k[0]), []byte(k[1])) || f == other.of([]byte(k[0]), []byte(k[1])) {
			t.Errorf("%q: a fingerprint depends on the seeds and on nothing else", k)
		}
		for _, half := range f {
			if at, ok := seen[half]; ok {
				t.Errorf("%q and %q share half a fingerprint", k, at)
			}
			seen[half] = k[0] + ", " + k[1]
		}
	}
}
