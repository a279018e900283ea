package azure_test

import (
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestRoleLacks takes one action after the other out of the documented role and makes
// a load balancer with a frontend in a subnet and one with a public address: the call
// that needs the action is refused, by its own name or for what it refers to.
func TestRoleLacks(t *testing.T) {
	definition, err := os.ReadFile("../../../docs/permissions/azure.json")
	if err != nil {
		t.Fatal(err)
	}
	const network = "Microsoft.Network/"
	tests := []struct{ lacks, address, internal, public string }{
		{},
		{lacks: network + "publicIPAddresses/write", address: "AuthorizationFailed"},
		{lacks: network + "loadBalancers/write", internal: "AuthorizationFailed", public: "AuthorizationFailed"},
		{lacks: network + "virtualNetworks/subnets/join/action", internal: "LinkedAuthorizationFailed"},
		{lacks: network + "publicIPAddresses/join/action", public: "LinkedAuthorizationFailed"},
	}
	for _, tc := range tests {
		t.Run(tc.lacks, func(t *testing.T) {
			w := startWorld(t, simazure.Options{})
			role, err := simazure.ParseRole(definition)
			if err != nil {
				t.Fatal(err)
			}
			role.Actions = slices.DeleteFunc(role.Actions, func(a string) bool { return a == tc.lacks })
			w.Cloud.SetRole(role)
			ip, err := w.putIP("ip", nil)
			if errorCode(err) != tc.address || (err != nil && httpStatus(err) != http.StatusForbidden) {
				t.Fatalf("address: %v, want %q", err, tc.address)
			}
			if _, err := w.putLB("internal", w.internalLB("internal"), ""); errorCode(err) != tc.internal {
				t.Errorf("internal: %v, want %q", err, tc.internal)
			}
			if ip.ID == nil {
				return
			}
			lb := w.internalLB("public")
			lb.Properties.FrontendIPConfigurations[0].Properties = &armnetwork.FrontendIPConfigurationPropertiesFormat{PublicIPAddress: &armnetwork.PublicIPAddress{ID: to.Ptr(*ip.ID)}}
			lb.Properties.FrontendIPConfigurations[0].Zones = nil
			if _, err := w.putLB("public", lb, ""); errorCode(err) != tc.public {
				t.Errorf("public: %v, want %q", err, tc.public)
			}
		})
	}
}

// TestRoleWildcards has patterns in both halves of a role.
func TestRoleWildcards(t *testing.T) {
	role := simazure.Role{Actions: []string{"Microsoft.Network/*/read", "Microsoft.Network/loadBalancers/*"}, NotActions: []string{"*/delete"}}
	for action, want := range map[string]bool{
		"Microsoft.Network/publicIPAddresses/read": true, "microsoft.network/LOADBALANCERS/write": true, "Microsoft.Network/loadBalancers/delete": false,
		"Microsoft.Network/publicIPAddresses/write": false, "Microsoft.Compute/virtualMachines/read": false,
	} {
		if got := role.Allows(action); got != want {
			t.Errorf("%s: %v, want %v", action, got, want)
		}
	}
}
