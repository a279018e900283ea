package compute

import (
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/network"
)

// maxInstances is the limit of a scale set. Source: Azure limits, scale sets.
const maxInstances = 1000

func (a *API) scaleSets() *arm.Kind {
	return &arm.Kind{
		Type: ScaleSets, Service: "compute", Client: "VirtualMachineScaleSets", Patches: true, ReadOnly: []string{"timeCreated", "overprovisionedCapacity"}, GUIDs: map[string]string{"uniqueId": "vmss"},
		Prepare: a.prepareScaleSet, Stored: storedScaleSet,
		View: func(s *arm.State, r *arm.Resource, d arm.Doc) {
			if !isFlexible(d) {
				arm.Put(d, len(s.Under(Instances, r.ID)), "sku", "capacity")
			}
		},
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			return arm.Conflictf("OperationNotAllowed", "Virtual Machine Scale Set %s cannot be deleted since it has the virtual machine %s.", w.ID, refs[0].From)
		},
	}
}

func isFlexible(d arm.Doc) bool {
	return strings.EqualFold(arm.Text(d, "properties", "orchestrationMode"), orchestrationFlex)
}

// modelInterfaces returns the interfaces of the model.
func modelInterfaces(d arm.Doc) []arm.Doc {
	return arm.List(d, "properties", "virtualMachineProfile", "networkProfile", "networkInterfaceConfigurations")
}

func (a *API) prepareScaleSet(w *arm.Write) *arm.Error {
	props := w.Props()
	arm.Default(props, "Uniform", "orchestrationMode")
	arm.Default(props, "Manual", "upgradePolicy", "mode")
	arm.Default(w.Doc, 0, "sku", "capacity")
	if w.Old != nil && isFlexible(w.OldDoc()) != isFlexible(w.Doc) {
		return arm.Badf("PropertyChangeNotAllowed", "Changing property 'orchestrationMode' is not allowed.")
	}
	if n, ok := arm.Number(w.Doc, "sku", "capacity"); !ok || n < 0 || n > maxInstances {
		return arm.Badf("InvalidParameter", "The capacity %v of scale set %s must be between 0 and %d.", arm.Value(w.Doc, "sku", "capacity"), w.ID.Name(), maxInstances)
	}
	return modelPools(w, modelInterfaces(w.Doc))
}

// modelPools checks the pools of a model: one load balancer of each type.
func modelPools(w *arm.Write, list []arm.Doc) *arm.Error {
	seen := map[string]string{}
	for _, nic := range list {
		for _, c := range arm.List(nic, "properties", "ipConfigurations") {
			props := arm.Object(c, "properties")
			for _, name := range []string{"loadBalancerBackendAddressPools", "loadBalancerInboundNatPools", "applicationSecurityGroups"} {
				arm.OnlyIDs(props, name)
			}
			arm.OnlyID(props, "subnet")
			for _, l := range arm.List(props, "loadBalancerBackendAddressPools") {
				_, lb := w.State.Part(arm.Text(l, "id"))
				if lb == nil {
					continue
				}
				kind := network.BalancerType(lb.Doc)
				if other := seen[kind]; other != "" && other != lb.ID.Key() {
					return arm.Badf("VMScaleSetCannotUseMultipleLoadBalancersOfSameType", "VM Scale Set %s cannot use multiple load balancers of the same type %s: %s and %s.", w.ID, kind, other, lb.ID)
				}
				seen[kind] = lb.ID.Key()
			}
		}
	}
	return nil
}

// storedScaleSet makes and removes instances until the capacity is right, and
// with the policy Automatic brings them up to the model.
func storedScaleSet(w *arm.Write) {
	all := w.State.Under(Instances, w.ID)
	if w.Doc == nil {
		for _, r := range all {
			w.Remove(r.ID)
		}
		return
	}
	if isFlexible(w.Doc) {
		return
	}
	want, _ := arm.Number(w.Doc, "sku", "capacity")
	for n := want; n < len(all); n++ {
		w.Remove(all[n].ID)
	}
	next := 0
	for _, r := range all {
		if n, err := strconv.Atoi(r.ID.Name()); err == nil {
			next = max(next, n+1)
		}
	}
	for n := len(all); n < want; n++ {
		if err := makeInstance(w, next); err != nil {
			return
		}
		next++
	}
	if arm.Text(w.Doc, "properties", "upgradePolicy", "mode") != "Automatic" {
		return
	}
	for _, r := range all[:min(want, len(all))] {
		d := arm.Clone(r.Doc)
		arm.Put(d, arm.Any(modelInterfaces(arm.Clone(w.Doc))), "properties", "networkProfileConfiguration", "networkInterfaceConfigurations")
		// What the model holds was accepted already, so that this cannot be refused.
		_ = w.Also(r.ID, d)
	}
}

// makeInstance adds one instance from the model of the scale set being written.
func makeInstance(w *arm.Write, number int) *arm.Error {
	id := w.ID.Child("virtualMachines", strconv.Itoa(number))
	prefix := arm.Text(w.Doc, "properties", "virtualMachineProfile", "osProfile", "computerNamePrefix")
	if prefix == "" {
		prefix = w.ID.Name()
	}
	body := arm.Doc{"location": arm.Text(w.Doc, "location"), "sku": arm.Doc{"name": arm.Text(w.Doc, "sku", "name"), "tier": "Standard"}, "properties": arm.Doc{
		"osProfile":                   arm.Doc{"computerName": ComputerName(prefix, number)},
		"networkProfileConfiguration": arm.Doc{"networkInterfaceConfigurations": arm.Any(modelInterfaces(arm.Clone(w.Doc)))},
	}}
	if zones := arm.Texts(w.Doc, "zones"); len(zones) > 0 {
		body["zones"] = []any{zones[number%len(zones)]}
	}
	if size := arm.Text(w.Doc, "sku", "name"); size != "" {
		arm.Put(body, size, "properties", "hardwareProfile", "vmSize")
	}
	return w.Also(id, body)
}
