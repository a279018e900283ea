package offline

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
)

// refer gives the planned Services the objects that they refer to: other Services from the
// input, the rest by name from the cluster, if there is one, with the rights of the
// caller.
func (p *planning) refer(ctx context.Context) {
	if !p.reconciler.WantsObjects() {
		return
	}
	for _, t := range p.tasks {
		if t.job == nil || t.job.Release {
			continue
		}
		objects := map[providers.Reference]providers.Object{}
		var asked []providers.Reference
		for _, ref := range p.reconciler.ListReferences(*t.job) {
			switch known := p.slices[ref.Namespace+"/"+ref.Name]; {
			case ref.Kind == providers.Service:
				objects[ref] = p.referredTo(ref)
			case ref.Kind == providers.Endpoints && p.pods != nil && len(known) > 0:
				kept, _ := p.pods(ref.Namespace, known)
				objects[ref] = providers.Object{Slices: kept}
			default:
				asked = append(asked, ref)
			}
		}
		if p.world.live != nil {
			for ref, object := range service.ReadObjects(ctx, p.world.live, asked) {
				objects[ref] = object
			}
		}
		t.job.Objects = objects
	}
}

// referredTo is a Service that another one refers to.
func (p *planning) referredTo(ref providers.Reference) providers.Object {
	all := p.world.in(ref.Namespace)
	i := slices.IndexFunc(all, func(svc *corev1.Service) bool { return svc.Name == ref.Name })
	if i < 0 {
		return providers.Object{Why: "does not exist"}
	}
	out := providers.Object{Service: all[i]}
	if p.pods != nil {
		out.Slices, _ = p.pods(ref.Namespace, p.slices[ref.Namespace+"/"+ref.Name])
	}
	return out
}
