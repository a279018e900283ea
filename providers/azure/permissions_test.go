package azure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestPermissions compares docs/permissions/azure.json with the calls made, with pools of
// addresses and of the interfaces of all sorts of machines, and with a private link service
// that has a connection when it is deleted.
func TestPermissions(t *testing.T) {
	link := serviceCase("link", map[string]string{"load-balancer-internal": "true", "pls-create": "true"}, nil)
	walks := []permissions.Walk{{Fresh: newSubject(simazure.SeedOptions{Nodes: 6}), Cases: append(propsCases(), propsCases()[1])}}
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.VM, simazure.Flex} {
		walks = append(walks, permissions.Walk{
			Fresh: newSubject(simazure.SeedOptions{Nodes: 3, NodesAs: as, Pools: simazure.NodeNIC}), Cases: []props.Case{propsCases()[0], propsCases()[1], link, propsCases()[1]},
			Then: func(t *testing.T, s props.Subject, c props.Case) {
				if c.Name == link.Name {
					connectTo(t, s)
				}
			},
		})
	}
	permissions.Check(t, permissions.Azure(), walks...)
}

// connectTo connects another subscription to the existing private link service.
func connectTo(t *testing.T, s props.Subject) {
	t.Helper()
	in, ok := s.(subject)
	if !ok {
		t.Fatalf("%T: no cloud of Azure", s)
	}
	seed := in.running.Cloud.Seed
	links, err := armnetwork.NewPrivateLinkServicesClient(seed.Subscription, in.running.Credential, in.running.Options())
	if err != nil {
		t.Fatal(err)
	}
	page, err := links.NewListBySubscriptionPager(nil).NextPage(t.Context())
	if err != nil || len(page.Value) != 1 {
		t.Fatalf("%d private link services, %v, want one", len(page.Value), err)
	}
	endpoints, err := armnetwork.NewPrivateEndpointsClient(seed.Subscription, in.running.Credential, in.running.Options())
	if err != nil {
		t.Fatal(err)
	}
	_, err = endpoints.BeginCreateOrUpdate(t.Context(), seed.ResourceGroup, "stranger", armnetwork.PrivateEndpoint{
		Location: page.Value[0].Location,
		Properties: &armnetwork.PrivateEndpointProperties{Subnet: &armnetwork.Subnet{ID: new(seed.SubnetID(seed.InternalSubnet))}, PrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{
			{Name: new("stranger"), Properties: &armnetwork.PrivateLinkServiceConnectionProperties{PrivateLinkServiceID: page.Value[0].ID}},
		}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
}
