package annotations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest returns a stable hash of the values of declared keys on the Service. Other
// keys, undeclared or foreign, do not change it; neither does the order.
func (s *Set) Digest(src Source) string {
	sum := sha256.New()
	for _, place := range []Place{ServiceAnnotation, ServiceLabel} {
		values := src.values(place)
		for _, key := range sortedKeys(values) {
			if s.reads(key, place) {
				// Lengths keep a value from looking like the next key.
				fmt.Fprintf(sum, "%s %d:%s %d:%s\n", place, len(key), key, len(values[key]), values[key])
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (s *Set) reads(key string, place Place) bool {
	for _, d := range s.find(key) {
		if !d.foreign && d.key.On == place {
			return true
		}
	}
	return false
}
