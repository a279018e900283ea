package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
)

func (w *world) putNAT(name string, sku armnetwork.NatGatewaySKUName, props *armnetwork.NatGatewayPropertiesFormat) error {
	w.t.Helper()
	nat := armnetwork.NatGateway{Location: to.Ptr("eastus"), SKU: &armnetwork.NatGatewaySKU{Name: &sku}, Properties: props}
	p, err := w.net.NewNatGatewaysClient().BeginCreateOrUpdate(w.t.Context(), w.seed.ResourceGroup, name, nat, nil)
	_, err = pollDone(w.t.Context(), p, err)
	return err
}

func (w *world) deleteNAT(name string) error {
	w.t.Helper()
	p, err := w.net.NewNatGatewaysClient().BeginDelete(w.t.Context(), w.seed.ResourceGroup, name, nil)
	_, err = pollDone(w.t.Context(), p, err)
	return err
}

func (w *world) ref(kind, name string) *armnetwork.SubResource {
	return &armnetwork.SubResource{ID: to.Ptr(w.id(kind, name))}
}

// TestForeignNATGateways: a Service takes none but those of its gateway, and two
// gateways share no pool.
func TestForeignNATGateways(t *testing.T) {
	w := startWithGateway(t, answerLate)
	mustSucceed[armnetwork.ServiceGateway](t)(w.gateway("second", nil))
	for name, props := range map[string]*armnetwork.NatGatewayPropertiesFormat{"loose": {}, "other": {ServiceGateway: w.ref("serviceGateways", "second")}} {
		if err := w.putNAT(name, armnetwork.NatGatewaySKUNameStandardV2, props); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.putNAT("standard", armnetwork.NatGatewaySKUNameStandard, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"loose": "NatGatewayNotOfServiceGateway", "other": "NatGatewayNotOfServiceGateway", "standard": "ServiceGatewayNatGatewayMustBeStandardV2", "none": "InvalidResourceReference",
	} {
		request := &armnetwork.ServiceGatewayServiceRequest{Service: &armnetwork.ServiceGatewayService{Name: to.Ptr("out"), Properties: &armnetwork.ServiceGatewayServicePropertiesFormat{
			ServiceType: to.Ptr(armnetwork.ServiceTypeOutbound), PublicNatGatewayID: to.Ptr(w.id("natGateways", name)),
		}}}
		if err := w.services(partialServices, request); errorCode(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	w.container("web")
	if err := w.services(partialServices, w.inbound("web")); err != nil {
		t.Fatal(err)
	}
	w.seed.ServiceGateway = "second"
	if err := w.services(partialServices, w.inbound("web")); errorCode(err) != "BackendPoolInUseByAnotherService" {
		t.Errorf("pool of a service of another gateway: %v", err)
	}
	if err := w.deleteGateway("second"); errorCode(err) != "InUseServiceGatewayCannotBeDeleted" {
		t.Errorf("delete of a gateway that a NAT gateway names: %v", err)
	}
}

// TestNATGatewayOfSubnet is the use without service gateways.
func TestNATGatewayOfSubnet(t *testing.T) {
	w := startWithGateway(t, nil)
	prefix := &armnetwork.NatGatewayPropertiesFormat{PublicIPPrefixes: []*armnetwork.SubResource{w.ref("publicIPPrefixes", w.seed.PublicIPPrefix)}}
	if err := w.putNAT("nat", armnetwork.NatGatewaySKUNameStandard, prefix); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]*armnetwork.NatGatewayPropertiesFormat{
		"missing address": {PublicIPAddresses: []*armnetwork.SubResource{w.ref("publicIPAddresses", "none")}},
		"missing prefix":  {PublicIPPrefixes: []*armnetwork.SubResource{w.ref("publicIPPrefixes", "none")}},
		"missing network": {SourceVirtualNetwork: w.ref("virtualNetworks", "none")},
	} {
		if err := w.putNAT("bad", armnetwork.NatGatewaySKUNameStandard, bad); errorCode(err) != "InvalidResourceReference" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.putNAT("bad", "Basic", nil); errorCode(err) != "InvalidRequestFormat" {
		t.Errorf("unknown SKU: %v", err)
	}
	subnets := w.net.NewSubnetsClient()
	attach := func(ref *armnetwork.SubResource) {
		t.Helper()
		s := mustSucceed[armnetwork.SubnetsClientGetResponse](t)(subnets.Get(t.Context(), w.seed.NetworkGroup, w.seed.Network, w.seed.Subnet, nil)).Subnet
		s.Properties.NatGateway = ref
		p, err := subnets.BeginCreateOrUpdate(t.Context(), w.seed.NetworkGroup, w.seed.Network, w.seed.Subnet, s, nil)
		mustSucceed[armnetwork.SubnetsClientCreateOrUpdateResponse](t)(pollDone(t.Context(), p, err))
	}
	attach(w.ref("natGateways", "nat"))
	nat := mustSucceed[armnetwork.NatGatewaysClientGetResponse](t)(w.net.NewNatGatewaysClient().Get(t.Context(), w.seed.ResourceGroup, "nat", nil))
	if list := nat.Properties.Subnets; len(list) != 1 || *list[0].ID != w.seed.SubnetID(w.seed.Subnet) {
		t.Errorf("subnets %v, want that of the nodes", list)
	}
	if err := w.deleteNAT("nat"); errorCode(err) != "InUseNatGatewayCannotBeDeleted" {
		t.Errorf("delete of one that a subnet names: %v", err)
	}
	attach(nil)
	if err := w.deleteNAT("nat"); err != nil {
		t.Error(err)
	}
}
