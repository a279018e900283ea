package providers

import (
	"strings"

	"github.com/berth-lb/berth/stack"
)

// duplicate begins the names in the keys of what a Service has once too often.
const duplicate = "another/"

// DuplicateKey returns the key of a resource that a Service has once too often, because a creation took effect
// late. No build wants it, so that it is deleted.
func DuplicateKey(k stack.Kind, id string) stack.Key {
	return stack.Key{Kind: k, Name: duplicate + id}
}

// IsDuplicate reports whether a key is one of [DuplicateKey].
func IsDuplicate(k stack.Key) bool { return strings.HasPrefix(k.Name, duplicate) }
