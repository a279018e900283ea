package model

import (
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// part is a kind of resource that is inherent in a load balancer or a listener of kind LBC, and
// that calls of its own read. A part_ file has everything about one kind, here and in the wire.
type part struct {
	kind stack.Kind
	rule diff.Rule
	// asked reports whether a Service requests it. Otherwise it is not read.
	asked func(in input) bool
	// want adds that of the load balancer to the desired stack, and yield warns if a load
	// balancer of others has another value; nil for parts of listeners.
	want, yield func(f *controlled)
}

// listParts returns all kinds of parts.
func listParts() []part {
	return []part{certificatesPart(), listenerAttributesPart(), capacityPart()}
}

// PartKinds returns the kinds of all parts.
func PartKinds() []stack.Kind {
	var out []stack.Kind
	for _, p := range listParts() {
		out = append(out, p.kind)
	}
	return out
}
