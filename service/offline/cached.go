package offline

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/view"
)

// StateOf returns the state of Services that a cache has, as [ReadFleet] does of those of a
// cluster. It reads neither cluster nor cloud.
func StateOf(ctx context.Context, services []*corev1.Service, by Judge) (view.Fleet, error) {
	world := World{Whole: true}
	for _, svc := range services {
		world.Items = append(world.Items, Item{Service: svc, Asked: true})
	}
	slices.SortFunc(world.Items, func(a, b Item) int { return a.Owner().Compare(b.Owner()) })
	return fleetOf(ctx, world, by)
}

// hasObjects reports whether the objects that Services refer to can be known.
func (p *planning) hasObjects() bool { return p.world.live != nil || p.world.Alone }

// knows reports whether everything is known that a Service asks for by its labels and references.
// Without a cluster, namespaces and the objects that a Service refers to are not.
func (p *planning) knows(t task) bool {
	if p.hasObjects() {
		return true
	}
	return !p.reconciler.WantsNamespaceLabels() && (!p.reconciler.WantsObjects() || len(p.reconciler.ListReferences(*t.job)) == 0)
}
