package compute

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Types of this package.
const (
	provider          = "Microsoft.Compute/"
	ScaleSets         = provider + "virtualMachineScaleSets"
	Instances         = ScaleSets + "/virtualMachines"
	InstanceNICs      = Instances + "/networkInterfaces"
	Machines          = provider + "virtualMachines"
	AvailabilitySets  = provider + "availabilitySets"
	powerProperty     = "_power"
	running           = "PowerState/running"
	orchestrationFlex = "Flexible"
)

// Options configures the provider.
type Options struct {
	// Location and its Display name, and the Zones of that region.
	Location, Display string
	Zones             []string
}

// API is the provider.
type API struct{ Options }

// New makes the provider.
func New(opt Options) *API { return &API{opt} }

// Kinds are the resource types of the provider.
func (a *API) Kinds() []*arm.Kind {
	kinds := []*arm.Kind{a.scaleSets(), instanceKind(), instanceInterfaces(), machineKind(), {
		Type: AvailabilitySets, Service: "compute", Client: "AvailabilitySets", Sync: true, NoEtag: true, Shows: []arm.Show{{Property: "virtualMachines", Empty: true}},
		Vacate: func(w *arm.Write, _ []arm.Ref) *arm.Error {
			return arm.Conflictf("OperationNotAllowed", "Availability Set '%s' cannot be deleted. Before deleting an Availability Set please ensure that it does not contain any VM.", w.ID.Name())
		},
		View: func(_ *arm.State, _ *arm.Resource, d arm.Doc) {
			// Source: armcompute v7, AvailabilitySetProperties.
			arm.Drop(arm.Object(d, "properties"), "provisioningState")
		},
	}}
	members := arm.ReadMembers(membersText)
	for _, k := range kinds {
		k.Members = members.Rule(k.Type)
	}
	return kinds
}

// Extra are the calls that are no resource.
func (a *API) Extra() []arm.Extra {
	machine := "/subscriptions/{s}/resourcegroups/{g}/providers/microsoft.compute/virtualmachines/{n}"
	set := "/subscriptions/{s}/resourcegroups/{g}/providers/microsoft.compute/virtualmachinescalesets/{n}"
	out := []arm.Extra{
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/{p}", Service: "resources", Name: "Providers.Get", Run: a.provider},
	}
	for verb, state := range map[string]string{"start": running, "poweroff": "PowerState/stopped", "deallocate": "PowerState/deallocated"} {
		out = append(out,
			arm.Extra{Method: http.MethodPost, Pattern: machine + "/" + verb, Service: "compute", Name: "VirtualMachines." + verb, Write: true, Run: setPower(state)},
			arm.Extra{Method: http.MethodPost, Pattern: set + "/virtualmachines/{i}/" + verb, Service: "compute", Name: "VirtualMachineScaleSetVMs." + verb, Write: true, Run: setPower(state)},
		)
	}
	return out
}

// provider is what the resource provider says of itself: mainly the zones.
// Source: Azure REST API reference, Providers - Get.
func (a *API) provider(c *arm.Call) *arm.Response {
	namespace := c.Segment(3)
	types := map[string][]string{
		"microsoft.compute": {"virtualMachines", "virtualMachineScaleSets", "availabilitySets"},
		"microsoft.network": {"loadBalancers", "publicIPAddresses", "networkSecurityGroups", "virtualNetworks", "privateLinkServices"},
	}[strings.ToLower(namespace)]
	if types == nil {
		return arm.Refuse(arm.Failf(http.StatusNotFound, "InvalidResourceNamespace", "The resource namespace '%s' is invalid.", namespace))
	}
	var list []any
	for _, t := range types {
		d := arm.Doc{"resourceType": t, "locations": []any{a.Display}, "apiVersions": []any{"2025-05-01"}, "capabilities": "None"}
		if len(a.Zones) > 0 {
			zones := make([]any, len(a.Zones))
			for i, z := range a.Zones {
				zones[i] = z
			}
			d["zoneMappings"] = []any{arm.Doc{"location": a.Display, "zones": zones}}
		}
		list = append(list, d)
	}
	return arm.Reply(http.StatusOK, arm.Doc{
		"id": "/subscriptions/" + c.Segment(1) + "/providers/" + namespace, "namespace": namespace, "registrationState": "Registered", "resourceTypes": list,
	})
}

func setPower(state string) func(*arm.Call) *arm.Response {
	return func(c *arm.Call) *arm.Response {
		r, err := c.Holder()
		if err != nil {
			return arm.Refuse(err)
		}
		d := arm.Clone(r.Doc)
		d[powerProperty] = state
		c.Svc.Change(func(w *arm.Write) { w.Replace(r.ID, d) })
		return arm.Reply(http.StatusOK, nil)
	}
}

func instanceView(r *arm.Resource) arm.Doc {
	state := arm.Text(r.Doc, powerProperty)
	if state == "" {
		state = running
	}
	_, word, _ := strings.Cut(state, "/")
	return arm.Doc{"statuses": []any{
		arm.Doc{"code": "ProvisioningState/" + strings.ToLower(r.Provisioning), "level": "Info", "displayStatus": "Provisioning " + strings.ToLower(r.Provisioning)},
		arm.Doc{"code": state, "level": "Info", "displayStatus": "VM " + word},
	}}
}

// expandView adds the instance view to a machine, which is shown on demand only.
func expandView(expand string, _ *arm.State, r *arm.Resource, d arm.Doc) {
	if strings.EqualFold(expand, "instanceView") {
		arm.Put(d, instanceView(r), "properties", "instanceView")
	}
}

func machineKind() *arm.Kind {
	return &arm.Kind{
		Type: Machines, Service: "compute", Client: "VirtualMachines", ReadOnly: []string{"instanceView", "timeCreated"}, GUIDs: map[string]string{"vmId": "vm"}, Links: []string{"virtualMachineScaleSet", "availabilitySet"},
		Prepare: prepareMachine, Expand: expandView,
		View: func(_ *arm.State, _ *arm.Resource, d arm.Doc) { delete(d, powerProperty) },
		Filter: func(filter string, r *arm.Resource) bool {
			_, want, ok := strings.Cut(filter, " eq ")
			return !ok || arm.Key(strings.Trim(want, "' ")) == arm.Key(arm.Text(r.Doc, "properties", "virtualMachineScaleSet", "id"))
		},
	}
}

func prepareMachine(w *arm.Write) *arm.Error {
	props := w.Props()
	list := arm.List(w.Doc, "properties", "networkProfile", "networkInterfaces")
	if len(list) == 0 {
		return arm.Badf("InvalidParameter", "Required parameter 'networkProfile' is missing (null).")
	}
	props["timeCreated"] = arm.Text(w.OldDoc(), "properties", "timeCreated")
	if w.Old == nil {
		props["timeCreated"] = w.Now.UTC().Format("2006-01-02T15:04:05Z")
	}
	if state := arm.Text(w.OldDoc(), powerProperty); state != "" {
		w.Doc[powerProperty] = state
	}
	for _, n := range list {
		for _, ref := range w.State.ReferredBy(arm.Text(n, "id")) {
			if ref.Property == "networkInterfaces" && arm.Key(ref.From) != w.ID.Key() {
				return arm.Badf("NicInUse", "Network Interface %s is used by existing resource %s.", arm.Text(n, "id"), ref.From)
			}
		}
	}
	return nil
}

// ComputerName is the host name of a scale set's instance: the prefix and the
// number in base 36 with six digits.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_vmss.go.
func ComputerName(prefix string, instance int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	out := []byte("000000")
	for i := len(out) - 1; i >= 0 && instance > 0; i-- {
		out[i] = digits[instance%len(digits)]
		instance /= len(digits)
	}
	return fmt.Sprintf("%s%s", prefix, out)
}
