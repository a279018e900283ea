package wire

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// fleet is the machines of the groups that nodes are in.
type fleet struct {
	nodes     []string                  // digests of the sets of nodes for which it was listed
	sets      []model.Object            // scale sets
	instances map[string][]model.Object // of uniform scale sets, by the set's id in lower case
	machines  []model.Object            // single ones and those of flexible scale sets
}

// readFleet lists the machines, where pools have interfaces for members.
func (r *read) readFleet() error {
	if !r.needsFleet() {
		return nil
	}
	groups := map[string]bool{r.config.Group: true}
	for _, scope := range r.scopes {
		for n := range scope.Nodes.All() {
			if g := model.GroupOf(n.ProviderID); g != "" {
				groups[g] = true
			}
		}
	}
	names, nodes := slices.Sorted(maps.Keys(groups)), r.nodeDigests()
	known := r.Session.facts.fleet(strings.Join(names, ","))
	age := fleetAge
	if last := known.Last(); r.recalled && last != nil && !slices.ContainsFunc(nodes, func(d string) bool { return !slices.Contains(last.nodes, d) }) {
		age = r.memory.extended(r.now(), age)
	}
	found, err := known.Get(r.ctx, r.now(), age, func(ctx context.Context) (*fleet, error) {
		list, err := r.listFleet(ctx, names)
		if err != nil {
			return nil, err
		}
		list.nodes = nodes
		return list, nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fleet = found
	return err
}

// nodeDigests returns the digests of the requested sets of nodes. A new digest means that a
// machine was added, removed or restarted.
func (r *read) nodeDigests() []string {
	var out []string
	for _, scope := range r.scopes {
		if d := scope.Nodes.Digest(); scope.Nodes.Len() > 0 && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// needsFleet reports whether machines have to be read: for their interfaces, or for their
// sets where several load balancers share them.
func (r *read) needsFleet() bool {
	if r.config.PoolType != model.PoolNodeIP {
		return true
	}
	for _, scope := range r.scopes {
		for n := range scope.Nodes.All() {
			if len(r.config.Multi) > 0 && model.SetOf(n.ProviderID) == "" {
				return true
			}
		}
	}
	return false
}

func (s *Session) listFleet(ctx context.Context, groups []string) (*fleet, error) {
	out := &fleet{instances: map[string][]model.Object{}}
	for _, group := range groups {
		base := "/subscriptions/" + s.config.Subscription + "/resourceGroups/" + group + "/providers/Microsoft.Compute/"
		sets, _, err := s.list(ctx, base+"virtualMachineScaleSets", computeVersion, nil)
		if err != nil {
			return nil, fmt.Errorf("read scale sets of %s: %w", group, err)
		}
		machines, _, err := s.list(ctx, base+"virtualMachines", computeVersion, nil)
		if err != nil {
			return nil, fmt.Errorf("read machines of %s: %w", group, err)
		}
		out.sets, out.machines = append(out.sets, sets...), append(out.machines, machines...)
	}
	var mu sync.Mutex
	var first error
	kit.ForEach(out.sets, func(set model.Object) {
		if isFlexible(set) {
			return
		}
		list, _, err := s.list(ctx, set.Text("id")+"/virtualMachines", computeVersion, map[string]string{"$expand": "instanceView"})
		mu.Lock()
		defer mu.Unlock()
		if err != nil && first == nil {
			first = fmt.Errorf("read machines of scale set %s: %w", set.Text("name"), err)
		}
		out.instances[strings.ToLower(set.Text("id"))] = list
	})
	return out, first
}

func isFlexible(set model.Object) bool {
	return strings.EqualFold(set.Props().Text("orchestrationMode"), "Flexible")
}

// machineFacts are the machines by what nodes call them.
func (f *fleet) machineFacts() map[string]model.Machine {
	out := map[string]model.Machine{}
	if f == nil {
		return out
	}
	for id, list := range f.instances {
		for _, o := range list {
			out["azure://"+strings.ToLower(o.Text("id"))] = model.Machine{ScaleSet: id, Set: model.LastSegment(id), Instance: o.Text("instanceId"), Out: whyOut(o)}
		}
	}
	for _, o := range f.machines {
		set := o.Ref("virtualMachineScaleSet")
		out["azure://"+strings.ToLower(o.Text("id"))] = model.Machine{NIC: strings.ToLower(primaryInterface(o)), ScaleSet: strings.ToLower(set), Flex: set != "", Set: strings.ToLower(model.LastSegment(cmp.Or(set, o.Ref("availabilitySet")))), Out: whyOut(o)}
	}
	return out
}

// primaryInterface is the id of the network interface of a machine that counts.
func primaryInterface(machine model.Object) string {
	list := machine.Props().In("networkProfile").List("networkInterfaces")
	if i := primaryIndex(list); i >= 0 {
		return list[i].Text("id")
	}
	return ""
}

// primaryIndex returns the index of the primary entry; a single entry is the primary
// one.
func primaryIndex(list []model.Object) int {
	if len(list) == 1 {
		return 0
	}
	return slices.IndexFunc(list, func(o model.Object) bool { return o.Props().Flag("primary") })
}

// whyOut says why a machine cannot join a pool now.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_vmss.go.
func whyOut(o model.Object) string {
	if strings.EqualFold(o.Props().Text("provisioningState"), "Deleting") {
		return "is being deleted"
	}
	for _, status := range o.Props().In("instanceView").List("statuses") {
		state, is := strings.CutPrefix(strings.ToLower(status.Text("code")), "powerstate/")
		if is && (state == "stopped" || state == "stopping" || state == "deallocated" || state == "deallocating") {
			return "is " + state
		}
	}
	return ""
}

// nodeNames are the names of the nodes that a read knows, by provider id in lower case.
func nodeNames(scopes []providers.Scope) map[string]string {
	out := map[string]string{}
	for _, scope := range scopes {
		for n := range scope.Nodes.All() {
			out[strings.ToLower(n.ProviderID)] = n.Name
		}
	}
	return out
}

// putMembers finds the machines in a pool.
func (r *read) putMembers(have *stack.Stack, lb, pool model.Object, proof stack.Proof) {
	if r.config.PoolType == model.PoolNodeIP || r.fleet == nil {
		return
	}
	name, in := pool.Text("name"), model.BalancerKey(lb.Text("name"))
	ref := stack.RefTo(model.PoolKey(lb.Text("name"), name))
	nics, sets := model.NICs{Pool: ref}, map[string]model.ScaleSet{}
	for _, member := range pool.Props().List(model.ListMembers) {
		id := strings.ToLower(member.Text("id"))
		if set, _, is := strings.Cut(id, "/virtualmachines/"); is && strings.Contains(set, "/virtualmachinescalesets/") {
			s := sets[set]
			s.Instances = append(s.Instances, model.Instance{Node: r.nameOf("azure://" + set + "/virtualmachines/" + model.SegmentAfter(id, "virtualmachines")), ID: model.SegmentAfter(id, "virtualmachines")})
			sets[set] = s
			continue
		}
		nic, _, _ := strings.Cut(id, "/ipconfigurations/")
		nics.Members = append(nics.Members, model.NIC{Node: r.nameOfInterface(nic), ID: nic})
	}
	for _, set := range r.fleet.sets {
		id := strings.ToLower(set.Text("id"))
		s, hasInstances := sets[id]
		if configuration := configurationOf(modelInterfaces(set), name); !hasInstances && !inPool(configuration, poolID(lb, name)) {
			continue
		}
		s.Flex = isFlexible(set)
		sets[id] = s
	}
	if len(nics.Members) > 0 {
		slices.SortFunc(nics.Members, func(a, b model.NIC) int { return cmp.Compare(a.ID, b.ID) })
		have.Put(stack.Resource{Key: model.NICsKey(lb.Text("name"), name), In: in, Ownership: stack.Shared, Proof: proof, Spec: nics})
	}
	for _, id := range slices.Sorted(maps.Keys(sets)) {
		s := sets[id]
		s.ID, s.Pool = id, ref
		slices.SortFunc(s.Instances, func(a, b model.Instance) int { return cmp.Compare(a.ID, b.ID) })
		have.Put(stack.Resource{Key: model.ScaleSetKey(lb.Text("name"), name, id), ID: id, In: in, Ownership: stack.Shared, Proof: proof, Spec: s})
	}
}

func poolID(lb model.Object, pool string) string {
	return lb.Text("id") + "/" + model.ListPools + "/" + pool
}

// nameOf is the name of a node, or the end of its machine's id if it has none.
func (r *read) nameOf(providerID string) string {
	return cmp.Or(r.names[providerID], model.LastSegment(providerID))
}

func (r *read) nameOfInterface(nic string) string {
	for _, o := range r.fleet.machines {
		if model.SameID(primaryInterface(o), nic) {
			return r.nameOf("azure://" + strings.ToLower(o.Text("id")))
		}
	}
	return model.LastSegment(nic)
}

// modelInterfaces are those of the model of a scale set.
func modelInterfaces(set model.Object) []model.Object {
	return set.Props().In("virtualMachineProfile", "networkProfile").List("networkInterfaceConfigurations")
}

// configurationOf is the ip configuration of the primary interface that is for
// the family of the pool: the primary one, or the first with IPv6.
func configurationOf(interfaces []model.Object, pool string) model.Object {
	i := primaryIndex(interfaces)
	if i < 0 {
		return nil
	}
	return familyConfiguration(interfaces[i], pool)
}

func familyConfiguration(nic model.Object, pool string) model.Object {
	list := nic.Props().List("ipConfigurations")
	i := primaryIndex(list)
	if strings.HasSuffix(strings.ToLower(pool), strings.ToLower(model.SuffixIPv6)) {
		i = slices.IndexFunc(list, func(o model.Object) bool {
			return strings.EqualFold(o.Props().Text("privateIPAddressVersion"), model.IPv6)
		})
	}
	if i < 0 {
		return nil
	}
	return list[i]
}

const memberOf = "loadBalancerBackendAddressPools"

func inPool(configuration model.Object, pool string) bool {
	return slices.ContainsFunc(configuration.Props().List(memberOf), func(o model.Object) bool { return model.SameID(o.Text("id"), pool) })
}
