package providers

import (
	"strings"
	"testing"
)

// TestElsewhere: at least twenty other clouds and add-ons are known, and no prefix of one
// is inside that of another, so that each key has one owner.
func TestElsewhere(t *testing.T) {
	all := otherPrefixes()
	if len(all) < 20 {
		t.Errorf("%d clouds and add-ons are known, want at least 20", len(all))
	}
	for name, prefixes := range all {
		for other, theirs := range all {
			for _, one := range prefixes {
				for _, two := range theirs {
					if name != other && strings.HasPrefix(one, two) {
						t.Errorf("%s of %s is inside %s of %s", one, name, two, other)
					}
				}
			}
		}
	}
}
