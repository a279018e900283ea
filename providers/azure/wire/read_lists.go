package wire

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
)

// recall takes the lists from memory, if that is enough for all scopes.
func (r *read) recall() bool {
	known, at, ok := r.memory.recall(r.scopes, r.at)
	if ok {
		r.lists, r.at, r.recalled = known, at, true
	}
	return ok
}

// whole reports whether every requested list was read.
func (r *read) whole() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil && len(r.blind)+len(r.failed) == 0
}

// shareds are the calls for the lists that serve all scopes.
func (r *read) shareds() []func() {
	tasks := []func(){
		func() {
			r.note(r.listBalancers(r.config.GroupOfBalancers(), false), model.KindEntries, model.KindPool, model.KindNICs, model.KindScaleSet, model.KindAccess)
		},
	}
	list := func(kind stack.Kind, each func(string) error) {
		for _, group := range r.wanted(kind, model.ByGroup, model.ByToldGroup) {
			tasks = append(tasks, func() {
				err := each(group)
				r.noteFor(providers.Lookup{Kind: kind, By: model.ByGroup, Value: group}, err)
				r.noteFor(providers.Lookup{Kind: kind, By: model.ByToldGroup, Value: group}, err)
			})
		}
	}
	list(model.KindPublicIP, r.listPublicIPs)
	list(model.KindLink, r.listLinks)
	return tasks
}

// others are the calls for what is remembered by itself.
func (r *read) others() []func() {
	tasks := []func(){
		func() { r.note(r.readFleet(), model.KindNICs, model.KindScaleSet) },
	}
	for _, name := range r.wanted(model.KindSubnet, model.ByName) {
		tasks = append(tasks, func() {
			r.noteFor(providers.Lookup{Kind: model.KindSubnet, By: model.ByName, Value: name}, r.readSubnet(name))
		})
	}
	if len(r.wanted(model.KindZones, model.ByRegion)) > 0 {
		tasks = append(tasks, func() { r.note(r.readZones()) })
	}
	return tasks
}
