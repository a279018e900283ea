package azure_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

func (w *world) members(lb string) []string {
	w.t.Helper()
	var out []string
	for _, c := range w.getLB(lb).Properties.BackendAddressPools[0].Properties.BackendIPConfigurations {
		out = append(out, *c.ID)
	}
	return out
}

func TestInterfacesInPools(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 2, NodesAs: simazure.VM}})
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("ip", nil))
	made := mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.publicLB("lb", "ip"), ""))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb-internal", w.internalLB("lb-internal"), ""))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("second-internal", w.internalLB("second-internal"), ""))
	client := w.net.NewInterfacesClient()
	join := func(lbs ...string) error {
		nic := mustSucceed[armnetwork.InterfacesClientGetResponse](t)(client.Get(t.Context(), w.seed.ResourceGroup, "node-1-nic", nil)).Interface
		var pools []*armnetwork.BackendAddressPool
		for _, lb := range lbs {
			pools = append(pools, &armnetwork.BackendAddressPool{ID: to.Ptr(w.id("loadBalancers", lb) + "/backendAddressPools/pool")})
		}
		nic.Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools = pools
		p, err := client.BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, "node-1-nic", nic, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	if err := join("lb", "lb-internal"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{w.seed.Nodes[0].IPConfiguration}, w.members("lb")); diff != "" {
		t.Errorf("members (-want +got)\n%s", diff)
	}
	if *w.getLB("lb").Etag == *made.Etag {
		t.Error("joining a pool left the etag of the load balancer as it was")
	}
	if err := join("lb", "lb-internal", "second-internal"); errorCode(err) != "AnotherInternalLoadBalancerExists" {
		t.Errorf("two internal ones: %v", err)
	}
	if err := join("none"); errorCode(err) != "InvalidResourceReference" {
		t.Errorf("missing pool: %v", err)
	}
	mixed := w.getLB("lb")
	mixed.Properties.BackendAddressPools[0].Properties.LoadBalancerBackendAddresses = []*armnetwork.LoadBalancerBackendAddress{{Name: to.Ptr("x"), Properties: &armnetwork.LoadBalancerBackendAddressPropertiesFormat{
		IPAddress: to.Ptr("10.240.0.9"), VirtualNetwork: &armnetwork.SubResource{ID: to.Ptr(strings.TrimSuffix(w.seed.SubnetID("x"), "/subnets/x"))},
	}}}
	if _, err := w.putLB("lb", mixed, ""); errorCode(err) != "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool" {
		t.Errorf("addresses beside interfaces: %v", err)
	}
	without := w.publicLB("lb", "ip")
	without.Properties.BackendAddressPools, without.Properties.LoadBalancingRules = nil, nil
	if _, err := w.putLB("lb", without, ""); errorCode(err) != "InvalidResourceReference" {
		t.Errorf("pool with members taken away: %v", err)
	}
	if err := w.deleteLB("lb"); err != nil {
		t.Fatalf("delete with interfaces in the pool: %v", err)
	}
	nic := mustSucceed[armnetwork.InterfacesClientGetResponse](t)(client.Get(t.Context(), w.seed.ResourceGroup, "node-1-nic", nil))
	if n := len(nic.Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools); n != 1 {
		t.Errorf("interface is in %d pools after the delete, want 1", n)
	}
	if *nic.Properties.VirtualMachine.ID != w.seed.Nodes[0].ID {
		t.Errorf("machine of the interface: %s", *nic.Properties.VirtualMachine.ID)
	}
	p, err := client.BeginDelete(t.Context(), w.seed.ResourceGroup, "node-1-nic", nil)
	if _, err := pollDone(t.Context(), p, err); errorCode(err) != "NicInUse" {
		t.Errorf("delete of an interface in use: %v", err)
	}
}

// TestScaleSetInPools adds machines to pools by model and by instance, and removes them.
//
// long: each step needs the state that the one before has left.
func TestScaleSetInPools(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 2}})
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("ip", nil))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.publicLB("lb", "ip"), ""))
	sets, vms := w.comp.NewVirtualMachineScaleSetsClient(), w.comp.NewVirtualMachineScaleSetVMsClient()
	set := mustSucceed[armcompute.VirtualMachineScaleSetsClientGetResponse](t)(sets.Get(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, nil)).VirtualMachineScaleSet
	pool := []*armcompute.SubResource{{ID: to.Ptr(w.id("loadBalancers", "lb") + "/backendAddressPools/pool")}}
	profile := set.Properties.VirtualMachineProfile.NetworkProfile
	model := func(pools []*armcompute.SubResource, capacity int64) error {
		profile.NetworkInterfaceConfigurations[0].Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools = pools
		p, err := sets.BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, armcompute.VirtualMachineScaleSet{
			Location: to.Ptr("eastus"), SKU: &armcompute.SKU{Capacity: to.Ptr(capacity)},
			Properties: &armcompute.VirtualMachineScaleSetProperties{VirtualMachineProfile: &armcompute.VirtualMachineScaleSetVMProfile{NetworkProfile: profile}},
		}, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	instance := func(id string) armcompute.VirtualMachineScaleSetVM {
		return mustSucceed[armcompute.VirtualMachineScaleSetVMsClientGetResponse](t)(vms.Get(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, id, nil)).VirtualMachineScaleSetVM
	}
	join := func(id string, pools []*armcompute.SubResource) error {
		vm := instance(id)
		vm.Properties.NetworkProfileConfiguration.NetworkInterfaceConfigurations[0].Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools = pools
		p, err := vms.BeginUpdate(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, id, armcompute.VirtualMachineScaleSetVM{
			Location: to.Ptr("eastus"), Properties: &armcompute.VirtualMachineScaleSetVMProperties{NetworkProfileConfiguration: vm.Properties.NetworkProfileConfiguration},
		}, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	if err := model(pool, 2); err != nil {
		t.Fatal(err)
	}
	if n := len(w.members("lb")); n != 0 {
		t.Errorf("the model alone made %d members, want none", n)
	}
	if instance("0").Properties.LatestModelApplied == nil || *instance("0").Properties.LatestModelApplied {
		t.Error("instance 0 claims to have the newest model")
	}
	for _, id := range []string{"0", "1"} {
		if err := join(id, pool); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{w.seed.Nodes[0].IPConfiguration, w.seed.Nodes[1].IPConfiguration}, w.members("lb")); diff != "" {
		t.Errorf("members (-want +got)\n%s", diff)
	}
	if err := model(pool, 3); err != nil {
		t.Fatal(err)
	}
	if got := w.members("lb"); len(got) != 3 || *instance("2").Properties.OSProfile.ComputerName != "aks-pool1-vmss000002" {
		t.Errorf("after a scale-out: members %v, name %s", got, *instance("2").Properties.OSProfile.ComputerName)
	}
	if err := w.deleteLB("lb"); errorCode(err) != "LoadBalancerInUseByVirtualMachineScaleSet" || !strings.Contains(err.Error(), "virtual machine scale set "+*set.ID+".") {
		t.Errorf("delete of a load balancer in use: %v", err)
	}
	if err := model(nil, 2); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"0", "1"} {
		if err := join(id, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.deleteLB("lb"); err != nil {
		t.Error(err)
	}
}

func TestInstanceViews(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 3, DualStack: true}})
	vms := w.comp.NewVirtualMachineScaleSetVMsClient()
	p, err := vms.BeginDeallocate(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, "1", nil)
	if _, err := pollDone(t.Context(), p, err); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	pager := vms.NewListPager(w.seed.ResourceGroup, w.seed.ScaleSet, &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: to.Ptr("instanceView")})
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, vm := range page.Value {
			got[*vm.Properties.OSProfile.ComputerName] = *vm.InstanceID + " " + *vm.Zones[0] + " " + *vm.Properties.InstanceView.Statuses[1].Code
		}
	}
	want := map[string]string{"aks-pool1-vmss000000": "0 1 PowerState/running", "aks-pool1-vmss000001": "1 2 PowerState/deallocated", "aks-pool1-vmss000002": "2 3 PowerState/running"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instances (-want +got)\n%s", diff)
	}
	nic := mustSucceed[armnetwork.InterfacesClientGetVirtualMachineScaleSetNetworkInterfaceResponse](t)(
		w.net.NewInterfacesClient().GetVirtualMachineScaleSetNetworkInterface(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, "1", w.seed.ScaleSet, nil))
	if len(nic.Properties.IPConfigurations) != 2 || *nic.Properties.IPConfigurations[1].Properties.PrivateIPAddress != "fd12:3456:789a::5" || w.seed.Nodes[1].PrivateIP6 != "fd12:3456:789a::5" {
		t.Errorf("interface of instance 1: %v", nic.Properties.IPConfigurations)
	}
}

func TestFlexibleNodes(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 3, NodesAs: simazure.Flex}})
	set := strings.Split(w.seed.Nodes[0].ID, "/virtualMachines/")[0] + "/virtualMachineScaleSets/" + w.seed.ScaleSet
	count := func(id string) int {
		n := 0
		pager := w.comp.NewVirtualMachinesClient().NewListPager(w.seed.ResourceGroup, &armcompute.VirtualMachinesClientListOptions{Filter: to.Ptr("'virtualMachineScaleSet/id' eq '" + id + "'")})
		for pager.More() {
			page, err := pager.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Value)
		}
		return n
	}
	if a, b := count(set), count(set+"-other"); a != 3 || b != 0 {
		t.Errorf("machines of the set %d, of another %d, want 3 and 0", a, b)
	}
	p, err := w.comp.NewVirtualMachineScaleSetsClient().BeginDelete(t.Context(), w.seed.ResourceGroup, w.seed.ScaleSet, nil)
	if _, err := pollDone(t.Context(), p, err); errorCode(err) != "OperationNotAllowed" {
		t.Errorf("delete of a set with machines: %v", err)
	}
}

func TestMigrateToIPs(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 2, NodesAs: simazure.VM, Outbound: true, Pools: simazure.NodeNIC}})
	_, err := w.net.NewLoadBalancersClient().MigrateToIPBased(t.Context(), w.seed.ResourceGroup, "kubernetes", &armnetwork.LoadBalancersClientMigrateToIPBasedOptions{
		Parameters: &armnetwork.MigrateLoadBalancerToIPBasedRequest{Pools: to.SliceOfPtrs("kubernetes")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, p := range w.getLB("kubernetes").Properties.BackendAddressPools {
		got[*p.Name+" by interface"] = len(p.Properties.BackendIPConfigurations)
		for _, a := range p.Properties.LoadBalancerBackendAddresses {
			if a.Properties.IPAddress != nil {
				got[*p.Name+" by address"]++
			}
		}
	}
	want := map[string]int{"aksOutboundBackendPool by interface": 2, "kubernetes by interface": 0, "kubernetes by address": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got)\n%s", diff)
	}
}
