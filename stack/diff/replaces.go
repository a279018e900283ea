package diff

import "github.com/berth-lb/berth/stack"

// Replaces tells whether the difference between a wanted and a found resource of
// one key cannot be made in place. Builders ask it when a replacement needs
// something besides, such as an address that is held meanwhile.
func Replaces(rules Rules, want, found stack.Resource) bool {
	rule := rules.Kinds[want.Key.Kind]
	return forced(rule.differences(want.Spec, found.Spec))
}
