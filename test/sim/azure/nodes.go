package azure

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

const (
	machineType = "Microsoft.Compute/virtualMachines"
	setType     = "Microsoft.Compute/virtualMachineScaleSets"
	nicType     = "Microsoft.Network/networkInterfaces"
)

func (b *seeding) nodes(count int) {
	switch b.NodesAs {
	case VM:
		b.AvailabilitySet = "nodes-as"
		for n := range count {
			b.machine(fmt.Sprintf("node-%d", n+1), fmt.Sprintf("node-%d", n+1), n, "")
		}
	case Flex:
		b.ScaleSet = "aks-pool1-flex"
		set := b.id(setType, b.ScaleSet)
		b.put(set, arm.Doc{"sku": arm.Doc{"name": nodeSize, "capacity": 0}, "zones": toAnySlice(b.zones), "properties": arm.Doc{
			"orchestrationMode": "Flexible", "platformFaultDomainCount": 1, "virtualMachineProfile": b.profile("2020-11-01"),
		}})
		for n := range count {
			b.machine(fmt.Sprintf("%s_%08x", b.ScaleSet, 0x1a2b3c00+n), b.computerName(n), n, set.String())
		}
	case VMSS:
		b.ScaleSet = "aks-pool1-vmss"
		b.uniform(count)
	}
	for i := range b.Nodes {
		b.Nodes[i].ProviderID = "azure://" + lowerGroup(b.Nodes[i].ID)
	}
}

// lowerGroup writes the group of an id in lower case, as the node manager does.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_instances.go.
func lowerGroup(id string) string {
	parsed, _ := arm.ParseID(id)
	parsed.Group = strings.ToLower(parsed.Group)
	return parsed.String()
}

// configurations are the ip configurations of a node's interface.
func (b *seeding) configurations(withVersions bool) []any {
	subnet := b.SubnetID(b.Subnet)
	first := arm.Doc{"primary": true, "subnet": idRef(subnet)}
	if len(b.pools) > 0 {
		first["loadBalancerBackendAddressPools"] = arm.Refs(b.pools)
	}
	out := []any{arm.Doc{"name": "ipconfig1", "properties": first}}
	if withVersions {
		first["privateIPAddressVersion"] = "IPv4"
	}
	if b.DualStack {
		out = append(out, arm.Doc{"name": "ipconfigv6", "properties": arm.Doc{"primary": false, "subnet": idRef(subnet), "privateIPAddressVersion": "IPv6"}})
	}
	return out
}

// profile is the model of the machines of a scale set.
func (b *seeding) profile(networkVersion string) arm.Doc {
	network := arm.Doc{"networkInterfaceConfigurations": []any{arm.Doc{"name": b.ScaleSet, "properties": arm.Doc{
		"primary": true, "enableAcceleratedNetworking": true, "enableIPForwarding": true, "ipConfigurations": b.configurations(true),
	}}}}
	if networkVersion != "" {
		network["networkApiVersion"] = networkVersion
	}
	return arm.Doc{"osProfile": arm.Doc{"computerNamePrefix": b.ScaleSet, "adminUsername": "azureuser"}, "networkProfile": network}
}

func (b *seeding) uniform(count int) {
	set := b.id(setType, b.ScaleSet)
	b.put(set, arm.Doc{"sku": arm.Doc{"name": nodeSize, "tier": "Standard", "capacity": count}, "zones": toAnySlice(b.zones), "properties": arm.Doc{
		"orchestrationMode": "Uniform", "upgradePolicy": arm.Doc{"mode": "Manual"}, "singlePlacementGroup": false, "overprovision": false, "virtualMachineProfile": b.profile(""),
	}})
	for n := range count {
		instance := set.Child("virtualMachines", fmt.Sprint(n))
		zone := ""
		if r := b.svc.State.Get(instance); r != nil && len(b.zones) > 0 {
			zone = arm.Texts(r.Doc, "zones")[0]
		}
		b.node(b.computerName(n), instance, instance.Child("networkInterfaces", b.ScaleSet), zone)
	}
}

// machine makes one virtual machine with its interface.
func (b *seeding) machine(name, computer string, n int, set string) {
	nic, vm := b.id(nicType, name+"-nic"), b.id(machineType, name)
	b.put(nic, arm.Doc{"properties": arm.Doc{"enableIPForwarding": true, "ipConfigurations": b.configurations(false)}})
	props := arm.Doc{
		"hardwareProfile": arm.Doc{"vmSize": nodeSize}, "osProfile": arm.Doc{"computerName": computer, "adminUsername": "azureuser"},
		"networkProfile": arm.Doc{"networkInterfaces": []any{arm.Doc{"id": nic.String(), "properties": arm.Doc{"primary": true}}}},
	}
	d, zone := arm.Doc{"properties": props}, ""
	if set != "" {
		props["virtualMachineScaleSet"] = idRef(set)
	}
	if len(b.zones) > 0 {
		zone = b.zones[n%len(b.zones)]
		d["zones"] = []any{zone}
	} else if set == "" {
		b.put(b.id("Microsoft.Compute/availabilitySets", b.AvailabilitySet), arm.Doc{"sku": arm.Doc{"name": "Aligned"}, "properties": arm.Doc{}})
		props["availabilitySet"] = idRef(b.id("Microsoft.Compute/availabilitySets", b.AvailabilitySet).String())
	}
	b.put(vm, d)
	b.node(computer, vm, nic, zone)
}

// node records what was made, with the addresses that it was given.
func (b *seeding) node(name string, machine, nic arm.ID, zone string) {
	r := b.svc.State.Get(nic)
	if r == nil {
		if b.err == nil {
			b.err = fmt.Errorf("node %s: its interface %s was not made", name, nic)
		}
		return
	}
	n := Node{Name: name, ID: machine.String(), IPConfiguration: nic.Child("ipConfigurations", "ipconfig1").String()}
	if zone != "" {
		n.Zone = b.Location + "-" + zone
	}
	for _, c := range arm.List(r.Doc, "properties", "ipConfigurations") {
		ip := arm.Text(c, "properties", "privateIPAddress")
		if arm.Text(c, "properties", "privateIPAddressVersion") == "IPv6" {
			n.PrivateIP6 = ip
		} else {
			n.PrivateIP = ip
		}
	}
	b.Nodes = append(b.Nodes, n)
}
