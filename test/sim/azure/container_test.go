package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/network"
)

func TestContainerSKUs(t *testing.T) {
	w := startWithGateway(t, nil)
	w.container("web")
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("std", nil))
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putV2("six", armnetwork.IPVersionIPv6))
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putV2("v2", armnetwork.IPVersionIPv4))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("std", w.publicLB("std", "std"), ""))
	address := func(lb *armnetwork.LoadBalancer, name string) {
		lb.Properties.FrontendIPConfigurations[0].Properties.PublicIPAddress.ID = to.Ptr(w.id("publicIPAddresses", name))
	}
	for _, c := range []struct {
		name, want string
		edit       func(*armnetwork.LoadBalancer)
	}{
		{"the same again", "", func(*armnetwork.LoadBalancer) {}},
		{"spelling of the SKU", "InvalidRequestFormat", func(lb *armnetwork.LoadBalancer) { lb.SKU.Name = to.Ptr(armnetwork.LoadBalancerSKUName("service")) }},
		{"unknown SKU", "InvalidRequestFormat", func(lb *armnetwork.LoadBalancer) { lb.SKU.Name = to.Ptr(armnetwork.LoadBalancerSKUName("StandardV2")) }},
		{"other SKU", "SkuCannotBeChanged", func(lb *armnetwork.LoadBalancer) { lb.SKU.Name = to.Ptr(armnetwork.LoadBalancerSKUNameStandard) }},
		{"address of the SKU Standard", "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed", func(lb *armnetwork.LoadBalancer) { address(lb, "std") }},
		{"address of a NAT gateway", "PublicIPAddressInUse", func(lb *armnetwork.LoadBalancer) { address(lb, "default-natgw-pip") }},
		{"IPv6 alone", "", func(lb *armnetwork.LoadBalancer) { address(lb, "six") }},
		{"scope of an internal one", "LoadBalancerScopeMismatch", func(lb *armnetwork.LoadBalancer) { lb.Properties.Scope = to.Ptr(armnetwork.LoadBalancerScopePrivate) }},
		{"unknown scope", "InvalidRequestFormat", func(lb *armnetwork.LoadBalancer) { lb.Properties.Scope = to.Ptr(armnetwork.LoadBalancerScope("Both")) }},
		{"probe", "ProbesNotSupportedForServiceSku", func(lb *armnetwork.LoadBalancer) { lb.Properties.Probes = []*armnetwork.Probe{tcpProbe("p")} }},
		{"floating IP", "FloatingIPNotSupportedForServiceSku", func(lb *armnetwork.LoadBalancer) {
			lb.Properties.LoadBalancingRules[0].Properties.EnableFloatingIP = to.Ptr(true)
		}},
		{"addresses of nodes", "BackendAddressesNotSupportedForServiceSku", func(lb *armnetwork.LoadBalancer) {
			lb.Properties.BackendAddressPools[0].Properties = &armnetwork.BackendAddressPoolPropertiesFormat{LoadBalancerBackendAddresses: []*armnetwork.LoadBalancerBackendAddress{
				{Name: to.Ptr("n"), Properties: &armnetwork.LoadBalancerBackendAddressPropertiesFormat{IPAddress: to.Ptr("10.240.0.4")}},
			}}
		}},
	} {
		lb := w.containerLB("web")
		c.edit(&lb)
		if _, err := w.putLB("web", lb, ""); errorCode(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := w.putLB("std", w.publicLB("std", "v2"), ""); errorCode(err) != "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed" {
		t.Errorf("StandardV2 address on a Standard load balancer: %v", err)
	}
	if _, err := w.putIP("web", func(ip *armnetwork.PublicIPAddress) {
		ip.SKU.Name, ip.Properties.PublicIPAllocationMethod = to.Ptr(armnetwork.PublicIPAddressSKUNameStandardV2), to.Ptr(armnetwork.IPAllocationMethodDynamic)
	}); errorCode(err) != "StandardSkuPublicIPAddressesMustBeStatic" {
		t.Errorf("dynamic StandardV2 address: %v", err)
	}
}

func (w *world) gateway(name string, edit func(*armnetwork.ServiceGateway)) (armnetwork.ServiceGateway, error) {
	w.t.Helper()
	network := w.seed.SubnetID("x")
	sg := armnetwork.ServiceGateway{Location: to.Ptr("eastus"), Properties: &armnetwork.ServiceGatewayPropertiesFormat{
		VirtualNetwork: &armnetwork.VirtualNetwork{ID: to.Ptr(network[:len(network)-len("/subnets/x")])},
		RouteTargetAddress: &armnetwork.RouteTargetAddressPropertiesFormat{
			Subnet: &armnetwork.Subnet{ID: to.Ptr(w.seed.SubnetID("gateway"))}, PrivateIPAddress: to.Ptr("10.243.0.20"), PrivateIPAllocationMethod: to.Ptr(armnetwork.IPAllocationMethodStatic),
		},
	}}
	if edit != nil {
		edit(&sg)
	}
	p, err := w.net.NewServiceGatewaysClient().BeginCreateOrUpdate(w.t.Context(), w.seed.ResourceGroup, name, sg, nil)
	out, err := pollDone(w.t.Context(), p, err)
	return out.ServiceGateway, err
}

func (w *world) deleteGateway(name string) error {
	p, err := w.net.NewServiceGatewaysClient().BeginDelete(w.t.Context(), w.seed.ResourceGroup, name, nil)
	_, err = pollDone(w.t.Context(), p, err)
	return err
}

// TestGateways is the life of a gateway, with its answers as they were recorded.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/servicegatewayclient/testdata.
//
// long: each step needs the state that the one before has left.
func TestGateways(t *testing.T) {
	w := startWithGateway(t, nil)
	client, ctx, group := w.net.NewServiceGatewaysClient(), t.Context(), w.seed.ResourceGroup
	tags := armnetwork.TagsObject{Tags: map[string]*string{"team": to.Ptr("shop")}}
	if _, err := client.UpdateTags(ctx, group, "sg", tags, nil); errorCode(err) != "ResourceNotFound" {
		t.Errorf("tags of none: %v", err)
	}
	if _, err := client.NewGetServicesPager(group, "sg", nil).NextPage(ctx); errorCode(err) != "ResourceNotFound" {
		t.Errorf("services of none: %v", err)
	}
	if _, err := client.BeginUpdateAddressLocations(ctx, group, "sg", armnetwork.ServiceGatewayUpdateAddressLocationsRequest{}, nil); errorCode(err) != "ResourceNotFound" {
		t.Errorf("update of none: %v", err)
	}
	made, err := w.gateway("sg", nil)
	if err != nil || *made.SKU.Name != armnetwork.ServiceGatewaySKUNameStandard || *made.Properties.RouteTargetAddress.PrivateIPAddress != "10.243.0.20" || *made.Properties.ProvisioningState != armnetwork.ProvisioningStateSucceeded {
		t.Fatalf("made %+v, %v", made.Properties, err)
	}
	tagged := mustSucceed[armnetwork.ServiceGatewaysClientUpdateTagsResponse](t)(client.UpdateTags(ctx, group, "sg", tags, nil))
	if *tagged.Tags["team"] != "shop" || *tagged.Properties.RouteTargetAddress.PrivateIPAddress != "10.243.0.20" || *tagged.Etag == *made.Etag {
		t.Errorf("tagged %+v", tagged)
	}
	if page := mustSucceed[armnetwork.ServiceGatewaysClientListResponse](t)(client.NewListPager(group, nil).NextPage(ctx)); len(page.Value) != 2 {
		t.Errorf("%d in the group, want 2", len(page.Value))
	}
	if page := mustSucceed[armnetwork.ServiceGatewaysClientListAllResponse](t)(client.NewListAllPager(nil).NextPage(ctx)); len(page.Value) != 2 {
		t.Errorf("%d in the subscription, want 2", len(page.Value))
	}
	other := armnetwork.VirtualNetwork{Location: to.Ptr("eastus"), Properties: &armnetwork.VirtualNetworkPropertiesFormat{AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: to.SliceOfPtrs("10.9.0.0/16")}}}
	vp, err := w.net.NewVirtualNetworksClient().BeginCreateOrUpdate(ctx, group, "other", other, nil)
	mustSucceed[armnetwork.VirtualNetworksClientCreateOrUpdateResponse](t)(pollDone(ctx, vp, err))
	for _, c := range []struct {
		name, want string
		edit       func(*armnetwork.ServiceGateway)
	}{
		{"the same again", "", nil},
		{"no network", "ServiceGatewayMustHaveVirtualNetwork", func(sg *armnetwork.ServiceGateway) { sg.Properties = nil }},
		{"missing network", "InvalidResourceReference", func(sg *armnetwork.ServiceGateway) {
			sg.Properties.VirtualNetwork.ID = to.Ptr(w.id("virtualNetworks", "none"))
		}},
		{"other network", "VirtualNetworkOfServiceGatewayCannotBeChanged", func(sg *armnetwork.ServiceGateway) {
			sg.Properties.VirtualNetwork.ID = to.Ptr(w.id("virtualNetworks", "other"))
		}},
		{"subnet of another network", "SubnetNotInVirtualNetworkOfServiceGateway", func(sg *armnetwork.ServiceGateway) {
			sg.Properties.RouteTargetAddress.Subnet.ID = to.Ptr(w.id("virtualNetworks", "other") + "/subnets/gateway")
		}},
		{"address of another gateway", "PrivateIPAddressIsAllocated", func(sg *armnetwork.ServiceGateway) {
			sg.Properties.RouteTargetAddress.PrivateIPAddress = to.Ptr("10.243.0.4")
		}},
		{"address of both families", "", func(sg *armnetwork.ServiceGateway) {
			sg.Properties.RouteTargetAddressV6 = &armnetwork.RouteTargetAddressPropertiesFormat{Subnet: &armnetwork.Subnet{ID: to.Ptr(w.seed.SubnetID("gateway"))}}
		}},
		{"SKU", "InvalidRequestFormat", func(sg *armnetwork.ServiceGateway) {
			sg.SKU = &armnetwork.ServiceGatewaySKU{Name: to.Ptr(armnetwork.ServiceGatewaySKUName("Basic"))}
		}},
		{"other region", "InvalidResourceLocation", func(sg *armnetwork.ServiceGateway) { sg.Location = to.Ptr("westus") }},
	} {
		if _, err := w.gateway("sg", c.edit); errorCode(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := w.deleteGateway("sg"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := w.deleteGateway(w.seed.ServiceGateway); errorCode(err) != "InUseServiceGatewayCannotBeDeleted" {
		t.Errorf("delete of one that a subnet and a NAT gateway name: %v", err)
	}
	np, err := w.net.NewVirtualNetworksClient().BeginDelete(ctx, w.seed.NetworkGroup, w.seed.Network, nil)
	if _, err := pollDone(ctx, np, err); errorCode(err) != "InUseVirtualNetworkCannotBeDeleted" && errorCode(err) != "InUseSubnetCannotBeDeleted" {
		t.Errorf("delete of the network: %v", err)
	}
}

// TestGatewayOfSubnet attaches gateways to subnets, and deletes one with all in it.
func TestGatewayOfSubnet(t *testing.T) {
	w := startWithGateway(t, answerLate)
	put := func(group, net, name string, edit func(*armnetwork.SubnetPropertiesFormat)) error {
		subnets := w.net.NewSubnetsClient()
		s := mustSucceed[armnetwork.SubnetsClientGetResponse](t)(subnets.Get(t.Context(), group, net, name, nil)).Subnet
		edit(s.Properties)
		p, err := subnets.BeginCreateOrUpdate(t.Context(), group, net, name, s, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	other := armnetwork.VirtualNetwork{Location: to.Ptr("eastus"), Properties: &armnetwork.VirtualNetworkPropertiesFormat{
		AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: to.SliceOfPtrs("10.9.0.0/16")},
		Subnets:      []*armnetwork.Subnet{{Name: to.Ptr("s"), Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: to.Ptr("10.9.0.0/24")}}},
	}}
	vp, err := w.net.NewVirtualNetworksClient().BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, "other", other, nil)
	mustSucceed[armnetwork.VirtualNetworksClientCreateOrUpdateResponse](t)(pollDone(t.Context(), vp, err))
	set := func(name string) func(*armnetwork.SubnetPropertiesFormat) {
		return func(p *armnetwork.SubnetPropertiesFormat) {
			p.ServiceGateway = &armnetwork.SubResource{ID: to.Ptr(w.id("serviceGateways", name))}
		}
	}
	if err := put(w.seed.ResourceGroup, "other", "s", set(w.seed.ServiceGateway)); errorCode(err) != "ServiceGatewayNotInVirtualNetwork" {
		t.Errorf("gateway of another network: %v", err)
	}
	if err := put(w.seed.NetworkGroup, w.seed.Network, w.seed.Subnet, set("none")); errorCode(err) != "InvalidResourceReference" {
		t.Errorf("missing gateway: %v", err)
	}
	w.container("web")
	if err := w.services(partialServices, w.inbound("web")); err != nil {
		t.Fatal(err)
	}
	if err := w.locations(partialLocations, newLocation("10.240.0.4", fullAddresses, "10.64.0.2 web")); err != nil {
		t.Fatal(err)
	}
	if err := put(w.seed.NetworkGroup, w.seed.Network, w.seed.Subnet, func(p *armnetwork.SubnetPropertiesFormat) { p.ServiceGateway = nil }); err != nil {
		t.Fatal(err)
	}
	nats := w.net.NewNatGatewaysClient()
	nat := mustSucceed[armnetwork.NatGatewaysClientGetResponse](t)(nats.Get(t.Context(), w.seed.ResourceGroup, w.seed.NATGateway, nil)).NatGateway
	nat.Properties.ServiceGateway = azcore.NullValue[*armnetwork.SubResource]()
	p, err := nats.BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, w.seed.NATGateway, nat, nil)
	mustSucceed[armnetwork.NatGatewaysClientCreateOrUpdateResponse](t)(pollDone(t.Context(), p, err))
	if err := w.deleteGateway(w.seed.ServiceGateway); err != nil {
		t.Fatal(err)
	}
	if err := w.deleteLB("web"); err != nil {
		t.Errorf("delete of the load balancer, with its service gone with the gateway: %v", err)
	}
	if _, err := w.gateway(w.seed.ServiceGateway, nil); err != nil {
		t.Fatal(err)
	}
	w.want("a new gateway's services", nil, w.serviceList())
	w.want("a new gateway's locations", nil, w.locationList())
}

func TestNATGateways(t *testing.T) {
	w := startWithGateway(t, answerLate)
	client, group := w.net.NewNatGatewaysClient(), w.seed.ResourceGroup
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("std", nil))
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putV2("out-pip", armnetwork.IPVersionIPv4))
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putV2("out-pip-v6", armnetwork.IPVersionIPv6))
	put := func(name string, edit func(*armnetwork.NatGateway)) error {
		nat := armnetwork.NatGateway{Location: to.Ptr("eastus"), SKU: &armnetwork.NatGatewaySKU{Name: to.Ptr(armnetwork.NatGatewaySKUNameStandardV2)}, Properties: &armnetwork.NatGatewayPropertiesFormat{
			ServiceGateway: w.ref("serviceGateways", w.seed.ServiceGateway), PublicIPAddresses: []*armnetwork.SubResource{w.ref("publicIPAddresses", "out-pip")}, PublicIPAddressesV6: []*armnetwork.SubResource{w.ref("publicIPAddresses", "out-pip-v6")},
		}}
		if edit != nil {
			edit(&nat)
		}
		p, err := client.BeginCreateOrUpdate(t.Context(), group, name, nat, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	for _, c := range []struct {
		name, want string
		edit       func(*armnetwork.NatGateway)
	}{
		{"new", "", nil},
		{"the same again", "", nil},
		{"address of the SKU Standard", "DifferentSkuNatGatewayAndPublicIPAddressNotAllowed", func(n *armnetwork.NatGateway) { n.Properties.PublicIPAddresses[0] = w.ref("publicIPAddresses", "std") }},
		{"address of another", "PublicIPAddressInUse", func(n *armnetwork.NatGateway) {
			n.Properties.PublicIPAddresses[0] = w.ref("publicIPAddresses", "default-natgw-pip")
		}},
		{"family", "NatGatewayPublicIPVersionMismatch", func(n *armnetwork.NatGateway) {
			n.Properties.PublicIPAddresses[0] = w.ref("publicIPAddresses", "out-pip-v6")
		}},
		{"missing gateway", "InvalidResourceReference", func(n *armnetwork.NatGateway) { n.Properties.ServiceGateway = w.ref("serviceGateways", "none") }},
		{"other SKU", "SkuCannotBeChanged", func(n *armnetwork.NatGateway) { n.SKU.Name = to.Ptr(armnetwork.NatGatewaySKUNameStandard) }},
		{"idle", "InvalidIdleTimeout", func(n *armnetwork.NatGateway) { n.Properties.IdleTimeoutInMinutes = to.Ptr[int32](121) }},
	} {
		if err := put("out", c.edit); errorCode(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := put("standard", func(n *armnetwork.NatGateway) {
		n.SKU.Name, n.Properties.PublicIPAddresses, n.Properties.PublicIPAddressesV6 = to.Ptr(armnetwork.NatGatewaySKUNameStandard), nil, nil
	}); errorCode(err) != "NatGatewayPropertyNeedsStandardV2" {
		t.Errorf("Standard one with a service gateway: %v", err)
	}
	ip := mustSucceed[armnetwork.PublicIPAddressesClientGetResponse](t)(w.net.NewPublicIPAddressesClient().Get(t.Context(), group, "out-pip", nil))
	if ip.Properties.NatGateway == nil || *ip.Properties.NatGateway.ID != w.id("natGateways", "out") {
		t.Errorf("the address names %v, want its NAT gateway", ip.Properties.NatGateway)
	}
	if err := w.deleteIP("out-pip"); errorCode(err) != "PublicIPAddressCannotBeDeleted" {
		t.Errorf("delete of its address: %v", err)
	}
	request := &armnetwork.ServiceGatewayServiceRequest{Service: &armnetwork.ServiceGatewayService{Name: to.Ptr("out"), Properties: &armnetwork.ServiceGatewayServicePropertiesFormat{
		ServiceType: to.Ptr(armnetwork.ServiceTypeOutbound), PublicNatGatewayID: to.Ptr(w.id("natGateways", "out")),
	}}}
	if err := w.services(partialServices, request); err != nil {
		t.Fatal(err)
	}
	if err := w.deleteNAT("out"); errorCode(err) != "InUseNatGatewayCannotBeDeleted" {
		t.Errorf("delete of one that a service names: %v", err)
	}
	if err := w.services(partialServices, deleteService("out")); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.deleteNAT("out"), w.deleteIP("out-pip"), w.deleteIP("out-pip-v6")} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestGatewayLimits(t *testing.T) {
	w := startWithGateway(t, func(opt *simazure.Options) {
		answerLate(opt)
		opt.Network.Limits = network.Limits{ServiceGateways: 1, GatewayServices: 2, GatewayLocations: 2, GatewayAddresses: 3}
	})
	if _, err := w.gateway("second", nil); errorCode(err) != "ServiceGatewayCountLimitReached" {
		t.Errorf("second gateway: %v", err)
	}
	w.container("a")
	w.container("b")
	if err := w.services(partialServices, w.inbound("a"), w.inbound("b")); errorCode(err) != "ServiceGatewayServiceCountLimitReached" {
		t.Errorf("third service: %v", err)
	}
	if err := w.services(partialServices, w.inbound("a")); err != nil {
		t.Fatal(err)
	}
	if err := w.locations(partialLocations, newLocation("10.240.0.4", fullAddresses, "10.64.0.1 a", "10.64.0.2 a"), newLocation("10.240.0.5", fullAddresses, "10.64.1.1 a", "10.64.1.2 a")); errorCode(err) != "ServiceGatewayAddressCountLimitReached" {
		t.Errorf("fourth address: %v", err)
	}
	if err := w.locations(partialLocations, newLocation("10.240.0.4", fullAddresses, "10.64.0.1 a"), newLocation("10.240.0.5", fullAddresses, "10.64.1.1 a"), newLocation("10.240.0.6", fullAddresses, "10.64.2.1 a")); errorCode(err) != "ServiceGatewayAddressLocationCountLimitReached" {
		t.Errorf("third location: %v", err)
	}
}

// TestGatewayFaults: an update that fails in the end changes nothing, one that is
// cut after the commit has changed all.
func TestGatewayFaults(t *testing.T) {
	w := startWithGateway(t, nil)
	w.container("a")
	set := func(f sim.Fault) {
		t.Helper()
		f.Service, f.Count = "network", 1
		if _, err := w.Cloud.Faults.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	set(sim.Fault{Kind: sim.FaultError, Operation: simazure.AsyncPrefix + "ServiceGateways.UpdateServices", Code: "InternalServerError"})
	if err := w.services(partialServices, w.inbound("a")); errorCode(err) != "InternalServerError" {
		t.Errorf("end of the update: %v", err)
	}
	w.want("after the failure", []string{defaultService}, w.serviceList())
	set(sim.Fault{Kind: sim.FaultCutAfter, Operation: "ServiceGateways.UpdateServices"})
	if err := w.services(partialServices, w.inbound("a")); err == nil {
		t.Error("cut: no error")
	}
	w.want("after the cut", []string{"a Inbound loadBalancers/a/backendAddressPools/pool", defaultService}, w.serviceList())
	set(sim.Fault{Kind: sim.FaultError, Operation: "ServiceGateways.UpdateAddressLocations", Status: 429})
	if err := w.locations(partialLocations, newLocation("10.240.0.4", fullAddresses, "10.64.0.2 a")); httpStatus(err) != 429 {
		t.Errorf("throttled: %v", err)
	}
	w.want("after the throttle", nil, w.locationList())
}
