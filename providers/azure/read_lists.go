package azure

import (
	"github.com/berth-lb/berth/providers"
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

// whole tells whether nothing that was asked for is missing.
func (r *read) whole() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil && len(r.blind)+len(r.failed) == 0
}

// shareds are the calls for the lists that serve all scopes.
func (r *read) shareds() []func() {
	tasks := []func(){
		func() { r.note(r.listBalancers(), KindEntries, KindPool, KindNICs, KindScaleSet, KindAccess) },
	}
	list := func(kind stack.Kind, each func(string) error) {
		for _, group := range r.wanted(kind, byGroup, byToldGroup) {
			tasks = append(tasks, func() {
				err := each(group)
				r.noteFor(providers.Lookup{Kind: kind, By: byGroup, Value: group}, err)
				r.noteFor(providers.Lookup{Kind: kind, By: byToldGroup, Value: group}, err)
			})
		}
	}
	list(KindPublicIP, r.listPublicIPs)
	list(KindLink, r.listLinks)
	return tasks
}

// others are the calls for what is remembered by itself.
func (r *read) others() []func() {
	tasks := []func(){
		func() { r.note(r.readFleet(), KindNICs, KindScaleSet) },
	}
	for _, name := range r.wanted(kindSubnet, byName) {
		tasks = append(tasks, func() { r.noteFor(providers.Lookup{Kind: kindSubnet, By: byName, Value: name}, r.readSubnet(name)) })
	}
	if len(r.wanted(kindZones, byRegion)) > 0 {
		tasks = append(tasks, func() { r.note(r.readZones()) })
	}
	return tasks
}
