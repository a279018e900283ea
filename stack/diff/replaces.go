package diff

import "github.com/berth-lb/berth/stack"

// Replaces reports whether the difference between a desired and an observed resource of
// one key cannot be made in place. Builders call it when a replacement needs further
// resources, such as an address that is held meanwhile.
func Replaces(rules Rules, want, found stack.Resource) bool {
	rule := rules.Kinds[want.Key.Kind]
	return forcesReplacement(rule.differences(want.Spec, found.Spec))
}
