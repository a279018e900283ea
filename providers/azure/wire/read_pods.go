package wire

import (
	"fmt"
	"slices"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Lists of a service gateway, as they are in paths.
const (
	pathServices  = "services"
	pathLocations = "addressLocations"
)

// readPods reads where pools contain pods: four lists, whatever the number of Services. A
// scope of facts alone is answered without a call: its only fact is whether the gateway
// exists.
func (r *read) readPods() []providers.Found[*model.Facts] {
	looks := slices.ContainsFunc(r.scopes, func(s providers.Scope) bool { return len(s.Own) > 0 })
	if looks && !r.recall() {
		mark := r.memory.begin(r.at)
		kit.Together(
			func() { r.note(r.listBalancers(r.config.Group, true), model.KindContainer) },
			func() { r.note(r.listPublicIPs(r.config.Group), model.KindContainerIP) },
			func() { r.note(r.listGateway(pathServices), model.KindRegistered, model.KindAttached) },
			func() { r.note(r.listGateway(pathLocations), model.KindPods) },
		)
		r.memory.end(mark, r.lists, r.at, r.whole())
	}
	world := model.PodWorldOf(r.lists.balancers, r.lists.byGroup[r.config.Group], r.lists.gateway)
	facts := &model.Facts{NoGateway: r.gateway.Missing}
	out := make([]providers.Found[*model.Facts], 0, len(r.scopes))
	for _, scope := range r.scopes {
		found := providers.Found[*model.Facts]{At: r.at, Facts: facts, Have: &stack.Stack{Owner: scope.Owner}}
		if len(scope.Own) > 0 {
			found.Have = world.Stack(r.config, scope.Owner)
		}
		found.Blind, found.Err = r.faults(scope)
		out = append(out, found)
	}
	return out
}

// listGateway reads one of the gateway's lists. They are written without an etag check, so
// nothing of them is sorted or left out.
func (r *read) listGateway(which string) error {
	items, exists, err := r.list(r.ctx, r.config.GatewayID()+"/"+which, networkVersion, nil)
	if err != nil {
		return fmt.Errorf("read %s of the service gateway %s: %w", which, model.GatewayName, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gateway.Missing = r.gateway.Missing || !exists
	r.lists = r.withGateway(which, items)
	return nil
}
