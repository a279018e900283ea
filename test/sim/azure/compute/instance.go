package compute

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/network"
)

func instanceKind() *arm.Kind {
	return &arm.Kind{
		Type: Instances, Service: "compute", Client: "VirtualMachineScaleSetVMs", Patches: true,
		ReadOnly: []string{"instanceView", "latestModelApplied", "networkProfile", "timeCreated"}, GUIDs: map[string]string{"vmId": "instance"},
		Prepare: prepareInstance, Stored: storedInstance, Expand: expandView, View: viewInstance,
	}
}

// prepareInstance writes the interfaces of the instance from its network
// profile. They are resources of their own, below the instance.
func prepareInstance(w *arm.Write) *arm.Error {
	if w.Old == nil && w.Request.Path != "" && arm.Key(w.Request.Path) == w.ID.Key() {
		return arm.Failf(404, "InstanceIdsListMissing", "The entity was not found in this Azure location: instance %s of scale set %s.", w.ID.Name(), w.ID.Parent().Name())
	}
	delete(w.Doc, "instanceId")
	list := arm.List(w.Doc, "properties", "networkProfileConfiguration", "networkInterfaceConfigurations")
	if err := modelPools(w, list); err != nil {
		return err
	}
	for _, nic := range list {
		id := w.ID.Child("networkInterfaces", arm.Text(nic, "name"))
		body := arm.Clone(nic)
		if old := w.State.Get(id); old != nil {
			keepAddresses(body, old.Doc)
		}
		arm.Put(body, arm.Text(w.Doc, "location"), "location")
		arm.OnlyID(arm.Object(body, "properties"), "networkSecurityGroup")
		if err := w.Also(id, body); err != nil {
			return err
		}
	}
	return nil
}

// keepAddresses carries over what an instance's configuration does not say.
func keepAddresses(body, old arm.Doc) {
	for _, c := range arm.List(body, "properties", "ipConfigurations") {
		had := arm.Collection{Property: "ipConfigurations"}.Part(old, arm.Text(c, "name"))
		for _, name := range []string{"privateIPAddress", "privateIPAllocationMethod", "privateIPAddressVersion"} {
			if v := arm.Text(had, "properties", name); v != "" {
				arm.Default(c, v, "properties", name)
			}
		}
	}
}

// storedInstance removes the interfaces with the instance, and gives the scale
// set a new etag.
func storedInstance(w *arm.Write) {
	if w.Doc == nil {
		for _, r := range w.State.Under(InstanceNICs, w.ID) {
			w.Remove(r.ID)
		}
	}
	w.Touch(w.ID.Parent())
}

func viewInstance(s *arm.State, r *arm.Resource, d arm.Doc) {
	delete(d, powerProperty)
	d["instanceId"] = r.ID.Name()
	var list []any
	for _, nic := range s.Under(InstanceNICs, r.ID) {
		list = append(list, arm.Doc{"id": nic.ID.String(), "properties": arm.Doc{"primary": arm.Flag(nic.Doc, "properties", "primary")}})
	}
	arm.Put(d, list, "properties", "networkProfile", "networkInterfaces")
	if set := s.Get(r.ID.Parent()); set != nil {
		has := arm.List(r.Doc, "properties", "networkProfileConfiguration", "networkInterfaceConfigurations")
		arm.Put(d, maps.EqualFunc(poolsByInterface(modelInterfaces(set.Doc)), poolsByInterface(has), slices.Equal), "properties", "latestModelApplied")
	}
}

func poolsByInterface(list []arm.Doc) map[string][]string {
	out := map[string][]string{}
	for _, nic := range list {
		for _, c := range arm.List(nic, "properties", "ipConfigurations") {
			for _, l := range arm.List(c, "properties", "loadBalancerBackendAddressPools") {
				key := arm.Text(nic, "name") + "/" + arm.Text(c, "name")
				out[key] = append(out[key], arm.Key(arm.Text(l, "id")))
			}
		}
	}
	return out
}

func instanceInterfaces() *arm.Kind {
	return &arm.Kind{
		Type: InstanceNICs, Service: "network", Client: "InterfacesOfScaleSets", GetOnly: true, Links: []string{"networkSecurityGroup"}, ReadOnly: []string{"macAddress"},
		GUIDs: map[string]string{"resourceGuid": "nic"}, Touches: network.InterfaceTouches(),
		Collections: []arm.Collection{{Property: "ipConfigurations", Client: "InterfacesOfScaleSetsIPConfigurations", Links: []string{"subnet", "publicIPAddress"}, LinkLists: []string{"loadBalancerBackendAddressPools", "loadBalancerInboundNatPools", "loadBalancerInboundNatRules", "applicationSecurityGroups"}}},
		Prepare:     network.PrepareInterface,
		View: func(_ *arm.State, r *arm.Resource, d arm.Doc) {
			arm.Put(d, arm.Doc{"id": r.ID.Parent().String()}, "properties", "virtualMachine")
		},
	}
}
