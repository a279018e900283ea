package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestPrivateLink is the life of one service and its connection.
//
// long: each step needs the state that the one before has left.
func TestPrivateLink(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	before := mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.internalLB("lb"), ""))
	front, subnet := *before.Properties.FrontendIPConfigurations[0].ID, w.seed.SubnetID(w.seed.LinkSubnet)
	client, group := w.net.NewPrivateLinkServicesClient(), w.seed.ResourceGroup
	put := func(name string, edit func(*armnetwork.PrivateLinkServiceProperties)) (armnetwork.PrivateLinkService, error) {
		props := &armnetwork.PrivateLinkServiceProperties{
			LoadBalancerFrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{{ID: to.Ptr(front)}},
			IPConfigurations: []*armnetwork.PrivateLinkServiceIPConfiguration{{Name: to.Ptr("a"), Properties: &armnetwork.PrivateLinkServiceIPConfigurationProperties{
				Primary: to.Ptr(true), Subnet: &armnetwork.Subnet{ID: to.Ptr(subnet)}, PrivateIPAllocationMethod: to.Ptr(armnetwork.IPAllocationMethodDynamic),
			}}},
			AutoApproval: &armnetwork.PrivateLinkServicePropertiesAutoApproval{Subscriptions: to.SliceOfPtrs(w.seed.Subscription)},
		}
		if edit != nil {
			edit(props)
		}
		p, err := client.BeginCreateOrUpdate(t.Context(), group, name, armnetwork.PrivateLinkService{Location: to.Ptr("eastus"), Properties: props}, nil)
		out, err := pollDone(t.Context(), p, err)
		return out.PrivateLinkService, err
	}
	if _, err := put("pls", nil); errorCode(err) != "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled" {
		t.Errorf("subnet with policies: %v", err)
	}
	subnets := w.net.NewSubnetsClient()
	s := mustSucceed[armnetwork.SubnetsClientGetResponse](t)(subnets.Get(t.Context(), w.seed.NetworkGroup, w.seed.Network, w.seed.LinkSubnet, nil)).Subnet
	s.Properties.PrivateLinkServiceNetworkPolicies = to.Ptr(armnetwork.VirtualNetworkPrivateLinkServiceNetworkPoliciesDisabled)
	sp, err := subnets.BeginCreateOrUpdate(t.Context(), w.seed.NetworkGroup, w.seed.Network, w.seed.LinkSubnet, s, nil)
	if _, err := pollDone(t.Context(), sp, err); err != nil {
		t.Fatal(err)
	}
	if _, err := put("pls", func(p *armnetwork.PrivateLinkServiceProperties) { p.IPConfigurations[0].Properties.Primary = nil }); errorCode(err) != "PrivateLinkServiceMustHaveOnePrimaryIPConfiguration" {
		t.Errorf("no primary: %v", err)
	}
	made, err := put("pls", nil)
	if err != nil || made.Properties.Alias == nil || *made.Properties.IPConfigurations[0].Properties.PrivateIPAddress != "10.242.0.4" {
		t.Fatalf("made %v, %v", made.Properties, err)
	}
	if *w.getLB("lb").Etag == *before.Etag {
		t.Error("the private link service left the etag of the load balancer as it was")
	}
	if _, err := put("second", nil); errorCode(err) != "PrivateLinkServiceFrontendAlreadyInUse" {
		t.Errorf("second service on a frontend: %v", err)
	}
	if err := w.deleteLB("lb"); errorCode(err) != "CannotDeleteLoadBalancerWithPrivateLinkService" {
		t.Errorf("delete of the load balancer: %v", err)
	}
	ep, err := w.net.NewPrivateEndpointsClient().BeginCreateOrUpdate(t.Context(), group, "endpoint", armnetwork.PrivateEndpoint{Location: to.Ptr("eastus"), Properties: &armnetwork.PrivateEndpointProperties{
		Subnet: &armnetwork.Subnet{ID: to.Ptr(w.seed.SubnetID(w.seed.InternalSubnet))},
		PrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{{Name: to.Ptr("c"), Properties: &armnetwork.PrivateLinkServiceConnectionProperties{
			PrivateLinkServiceID: made.ID,
		}}},
	}}, nil)
	if _, err := pollDone(t.Context(), ep, err); err != nil {
		t.Fatal(err)
	}
	got := mustSucceed[armnetwork.PrivateLinkServicesClientGetResponse](t)(client.Get(t.Context(), group, "pls", nil))
	if len(got.Properties.PrivateEndpointConnections) != 1 || *got.Properties.PrivateEndpointConnections[0].Properties.PrivateLinkServiceConnectionState.Status != "Approved" {
		t.Fatalf("connections %v, want one approved", got.Properties.PrivateEndpointConnections)
	}
	remove := func() error {
		p, err := client.BeginDelete(t.Context(), group, "pls", nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	if err := remove(); errorCode(err) != "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted" {
		t.Errorf("delete with a connection: %v", err)
	}
	cp, err := client.BeginDeletePrivateEndpointConnection(t.Context(), group, "pls", *got.Properties.PrivateEndpointConnections[0].Name, nil)
	if _, err := pollDone(t.Context(), cp, err); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if err := w.deleteLB("lb"); err != nil {
		t.Error(err)
	}
}
