package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// fitPorts returns the ports for which the load balancer of a group has room, and reports the
// others: the number of its listeners cannot be raised. Existing listeners keep their place.
func (f *controlled) fitPorts(ports []lbcPort) []lbcPort {
	if f.ofGroup == "" {
		return ports
	}
	room := networkListeners
	for _, r := range f.have.Of(KindListener) {
		if r.In == f.balancer && r.Proof == stack.None {
			room--
		}
	}
	if len(ports) <= room {
		return ports
	}
	exists := func(p lbcPort) bool {
		r, ok := f.have.Get(stack.Key{Kind: KindListener, Name: p.key()})
		return ok && r.Proof != stack.None
	}
	ranked := slices.Clone(ports)
	slices.SortStableFunc(ranked, func(a, b lbcPort) int {
		switch {
		case exists(a) == exists(b):
			return 0
		case exists(a):
			return -1
		}
		return 1
	})
	fit, left := ranked[:max(room, 0)], ranked[max(room, 0):]
	names := make([]string, len(left))
	for i, p := range left {
		names[i] = p.String()
	}
	message := fmt.Sprintf("is not served: the load balancer of the group %s can have %d listeners, and other Services have %d of them", f.ofGroup, networkListeners, networkListeners-room)
	f.report(annotations.NotApplied(annotations.ProblemOf("spec.ports", strings.Join(names, ", "), message, "fewer ports, or another group", annotations.Warning))...)
	return fit
}
