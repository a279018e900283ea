package azure_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

func policyHeader(ctx context.Context, name, value string) context.Context {
	return policy.WithHTTPHeader(ctx, http.Header{name: []string{value}})
}

func TestLoadBalancerLife(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	ip, err := w.putIP("ip", nil)
	if err != nil {
		t.Fatal(err)
	}
	if *ip.Properties.IPAddress != "20.61.0.1" || *ip.Properties.ProvisioningState != armnetwork.ProvisioningStateSucceeded {
		t.Errorf("address %s in state %s, want 20.61.0.1 Succeeded", *ip.Properties.IPAddress, *ip.Properties.ProvisioningState)
	}
	made, err := w.putLB("lb", w.publicLB("lb", "ip"), "")
	if err != nil {
		t.Fatal(err)
	}
	front := made.Properties.FrontendIPConfigurations[0]
	got := map[string]string{
		"state": string(*made.Properties.ProvisioningState), "type": *made.Type, "front id": strings.TrimPrefix(*front.ID, *made.ID), "front rules": lastNames(front.Properties.LoadBalancingRules),
		"probe rules": lastNames(made.Properties.Probes[0].Properties.LoadBalancingRules), "pool rules": lastNames(made.Properties.BackendAddressPools[0].Properties.LoadBalancingRules),
		"same etag": map[bool]string{true: "yes"}[*front.Etag == *made.Etag], "rule pools": lastNames(made.Properties.LoadBalancingRules[0].Properties.BackendAddressPools),
	}
	want := map[string]string{
		"state": "Succeeded", "type": "Microsoft.Network/loadBalancers", "front id": "/frontendIPConfigurations/front", "front rules": "rule",
		"probe rules": "rule", "pool rules": "rule", "same etag": "yes", "rule pools": "pool",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("load balancer (-want +got)\n%s", diff)
	}
	after := mustSucceed[armnetwork.PublicIPAddressesClientGetResponse](t)(w.net.NewPublicIPAddressesClient().Get(t.Context(), strings.ToLower(w.seed.ResourceGroup), "IP", nil))
	if *after.Etag == *ip.Etag || *after.Properties.IPConfiguration.ID != *front.ID {
		t.Errorf("attached address: etag %s, configuration %v, want a new etag and %s", *after.Etag, after.Properties.IPConfiguration, *front.ID)
	}
	if err := w.deleteIP("ip"); errorCode(err) != "PublicIPAddressCannotBeDeleted" {
		t.Errorf("delete of an attached address: %v", err)
	}
	if err := w.deleteLB("lb"); err != nil {
		t.Fatal(err)
	}
	_, err = w.net.NewLoadBalancersClient().Get(t.Context(), w.seed.ResourceGroup, "lb", nil)
	if errorCode(err) != "ResourceNotFound" || httpStatus(err) != http.StatusNotFound {
		t.Errorf("get after delete: %v", err)
	}
	if err := w.deleteLB("lb"); err != nil {
		t.Errorf("second delete: %v, want success by 204", err)
	}
	if err := w.deleteIP("ip"); err != nil {
		t.Error(err)
	}
}

func TestEtags(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("ip", nil))
	first := mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.publicLB("lb", "ip"), ""))
	body := w.getLB("lb")
	body.Tags = map[string]*string{"a": to.Ptr("b")}
	second, err := w.putLB("lb", body, *first.Etag)
	if err != nil || *second.Etag == *first.Etag {
		t.Fatalf("write with the etag: %v, want a new etag instead of %s", err, *first.Etag)
	}
	if _, err := w.putLB("lb", body, *first.Etag); httpStatus(err) != http.StatusPreconditionFailed || errorCode(err) != "PreconditionFailed" {
		t.Errorf("write with an old etag: %v, want 412", err)
	}
	if _, err := w.putLB("other", w.internalLB("other"), `W/"x"`); httpStatus(err) != http.StatusPreconditionFailed {
		t.Errorf("create with an etag: %v, want 412", err)
	}
	p, err := w.net.NewLoadBalancerBackendAddressPoolsClient().BeginCreateOrUpdate(t.Context(), w.seed.ResourceGroup, "lb", "pool", armnetwork.BackendAddressPool{
		Properties: &armnetwork.BackendAddressPoolPropertiesFormat{
			VirtualNetwork:               &armnetwork.SubResource{ID: to.Ptr(strings.TrimSuffix(w.seed.SubnetID("x"), "/subnets/x"))},
			LoadBalancerBackendAddresses: []*armnetwork.LoadBalancerBackendAddress{{Name: to.Ptr("n"), Properties: &armnetwork.LoadBalancerBackendAddressPropertiesFormat{IPAddress: to.Ptr("10.240.0.9")}}},
		},
	}, nil)
	if _, err := pollDone(t.Context(), p, err); err != nil {
		t.Fatal(err)
	}
	if third := w.getLB("lb"); *third.Etag == *second.Etag || len(third.Properties.BackendAddressPools[0].Properties.LoadBalancerBackendAddresses) != 1 {
		t.Errorf("after a write of the pool: etag %s, addresses %v", *third.Etag, third.Properties.BackendAddressPools[0].Properties.LoadBalancerBackendAddresses)
	}
}

// TestForeignContent puts back what was read, with one thing more: everything
// else must be as it was.
func TestForeignContent(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 3, Outbound: true, Pools: simazure.NodeNIC}})
	before := w.getLB("kubernetes")
	body := w.getLB("kubernetes")
	body.Properties.Probes = append(body.Properties.Probes, tcpProbe("mine"))
	after := mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("kubernetes", body, *before.Etag))
	after.Properties.Probes = nil
	before.Properties.Probes = nil
	scrub := func(lb *armnetwork.LoadBalancer) {
		lb.Etag = nil
		for _, f := range lb.Properties.FrontendIPConfigurations {
			f.Etag = nil
		}
		for _, p := range lb.Properties.BackendAddressPools {
			p.Etag = nil
		}
		for _, r := range lb.Properties.OutboundRules {
			r.Etag = nil
		}
	}
	scrub(&before)
	scrub(&after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("foreign content (-before +after)\n%s", diff)
	}
	if n := len(before.Properties.BackendAddressPools[0].Properties.BackendIPConfigurations); n != 3 {
		t.Errorf("outbound pool has %d members, want 3", n)
	}
}

func TestLoadBalancerRules(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("ip", nil))
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("used", nil))
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("six", func(p *armnetwork.PublicIPAddress) {
		p.Properties.PublicIPAddressVersion = to.Ptr(armnetwork.IPVersionIPv6)
	}))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("taken", w.publicLB("taken", "used"), ""))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.publicLB("lb", "ip"), ""))
	front := func(lb *armnetwork.LoadBalancer) *armnetwork.FrontendIPConfigurationPropertiesFormat {
		return lb.Properties.FrontendIPConfigurations[0].Properties
	}
	rule := func(lb *armnetwork.LoadBalancer) *armnetwork.LoadBalancingRulePropertiesFormat {
		return lb.Properties.LoadBalancingRules[0].Properties
	}
	probe := func(lb *armnetwork.LoadBalancer) *armnetwork.ProbePropertiesFormat {
		return lb.Properties.Probes[0].Properties
	}
	add := func(lb *armnetwork.LoadBalancer, name string, port int32) *armnetwork.LoadBalancingRulePropertiesFormat {
		r := w.rule("lb", name, port)
		lb.Properties.LoadBalancingRules = append(lb.Properties.LoadBalancingRules, r)
		return r.Properties
	}
	outbound := func(lb *armnetwork.LoadBalancer) {
		lb.Properties.OutboundRules = []*armnetwork.OutboundRule{{Name: to.Ptr("out"), Properties: &armnetwork.OutboundRulePropertiesFormat{
			Protocol: to.Ptr(armnetwork.LoadBalancerOutboundRuleProtocolAll), BackendAddressPool: rule(lb).BackendAddressPool, FrontendIPConfigurations: []*armnetwork.SubResource{rule(lb).FrontendIPConfiguration},
		}}}
	}
	for _, c := range []struct {
		name, want string
		edit       func(*armnetwork.LoadBalancer)
	}{
		{"same again", "", func(*armnetwork.LoadBalancer) {}},
		{"last frontend", "DeletingAllIpConfigsInLoadbalancerNotSupported", func(lb *armnetwork.LoadBalancer) { lb.Properties = &armnetwork.LoadBalancerPropertiesFormat{} }},
		{"both kinds of address", "FrontendIPConfigHasBothSubnetAndPublicIP", func(lb *armnetwork.LoadBalancer) {
			front(lb).Subnet = &armnetwork.Subnet{ID: to.Ptr(w.seed.SubnetID("internal"))}
		}},
		{"missing address", "InvalidResourceReference", func(lb *armnetwork.LoadBalancer) {
			front(lb).PublicIPAddress.ID = to.Ptr(w.id("publicIPAddresses", "none"))
		}},
		{"address of another", "PublicIPReferencedByMultipleIPConfigs", func(lb *armnetwork.LoadBalancer) {
			front(lb).PublicIPAddress.ID = to.Ptr(w.id("publicIPAddresses", "used"))
		}},
		{"address twice", "PublicIPReferencedByMultipleIPConfigs", func(lb *armnetwork.LoadBalancer) {
			lb.Properties.FrontendIPConfigurations = append(lb.Properties.FrontendIPConfigurations, &armnetwork.FrontendIPConfiguration{Name: to.Ptr("two"), Properties: front(lb)})
		}},
		{"IPv6 alone", "AtleastOneIpV4RequiredForIpV6LbFrontendIpConfiguration", func(lb *armnetwork.LoadBalancer) {
			front(lb).PublicIPAddress.ID = to.Ptr(w.id("publicIPAddresses", "six"))
		}},
		{"zones on a public frontend", "LoadBalancerFrontendIPConfigCannotHaveZoneWhenReferencingPublicIPAddress", func(lb *armnetwork.LoadBalancer) {
			lb.Properties.FrontendIPConfigurations[0].Zones = to.SliceOfPtrs("1")
		}},
		{"rule to a missing pool", "InvalidResourceReference", func(lb *armnetwork.LoadBalancer) { lb.Properties.BackendAddressPools = nil }},
		{"rule to a missing probe", "InvalidResourceReference", func(lb *armnetwork.LoadBalancer) { lb.Properties.Probes = nil }},
		{"names twice", "InvalidRequestFormat", func(lb *armnetwork.LoadBalancer) { add(lb, "RULE", 81) }},
		{"bad name", "InvalidResourceName", func(lb *armnetwork.LoadBalancer) { add(lb, "a/b", 81) }},
		{"frontend port twice", "RulesUseSameFrontendPortProtocolAndIPConfig", func(lb *armnetwork.LoadBalancer) { add(lb, "two", 80) }},
		{"other protocol", "", func(lb *armnetwork.LoadBalancer) {
			add(lb, "two", 80).Protocol = to.Ptr(armnetwork.TransportProtocolUDP)
		}},
		{"backend port twice", "RulesUseSameBackendPortProtocolAndPool", func(lb *armnetwork.LoadBalancer) {
			rule(lb).EnableFloatingIP = to.Ptr(false)
			r := add(lb, "two", 81)
			r.EnableFloatingIP, r.BackendPort = to.Ptr(false), to.Ptr[int32](80)
		}},
		{"all ports on a public one", "HAPortsNotSupportedForPublicLoadBalancer", func(lb *armnetwork.LoadBalancer) {
			rule(lb).Protocol, rule(lb).FrontendPort, rule(lb).BackendPort = to.Ptr(armnetwork.TransportProtocolAll), to.Ptr[int32](0), to.Ptr[int32](0)
		}},
		{"all ports with a number", "LoadBalancingRuleProtocolAllRequiresPortZero", func(lb *armnetwork.LoadBalancer) { rule(lb).Protocol = to.Ptr(armnetwork.TransportProtocolAll) }},
		{"port 0", "LoadBalancingRuleFrontendPortInvalid", func(lb *armnetwork.LoadBalancer) { rule(lb).FrontendPort = to.Ptr[int32](0) }},
		{"idle 3", "InvalidIdleTimeout", func(lb *armnetwork.LoadBalancer) { rule(lb).IdleTimeoutInMinutes = to.Ptr[int32](3) }},
		{"idle 100", "", func(lb *armnetwork.LoadBalancer) { rule(lb).IdleTimeoutInMinutes = to.Ptr[int32](100) }},
		{"interval 4", "LoadBalancerProbeIntervalInvalid", func(lb *armnetwork.LoadBalancer) { probe(lb).IntervalInSeconds = to.Ptr[int32](4) }},
		{"threshold 101", "LoadBalancerProbeThresholdInvalid", func(lb *armnetwork.LoadBalancer) { probe(lb).ProbeThreshold = to.Ptr[int32](101) }},
		{"probe port 0", "LoadBalancerProbePortInvalid", func(lb *armnetwork.LoadBalancer) { probe(lb).Port = to.Ptr[int32](0) }},
		{"http without path", "RequestPathRequiredForHttpProbe", func(lb *armnetwork.LoadBalancer) { probe(lb).Protocol = to.Ptr(armnetwork.ProbeProtocolHTTP) }},
		{"tcp with path", "RequestPathNotAllowedForTcpProbe", func(lb *armnetwork.LoadBalancer) { probe(lb).RequestPath = to.Ptr("/") }},
		{"snat with an outbound rule", "LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule", outbound},
		{"no snat with an outbound rule", "", func(lb *armnetwork.LoadBalancer) { outbound(lb); rule(lb).DisableOutboundSnat = to.Ptr(true) }},
		{"other SKU", "SkuCannotBeChanged", func(lb *armnetwork.LoadBalancer) { lb.SKU.Name = to.Ptr(armnetwork.LoadBalancerSKUNameBasic) }},
		{"other region", "InvalidResourceLocation", func(lb *armnetwork.LoadBalancer) { lb.Location = to.Ptr("West Europe") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			lb := w.publicLB("lb", "ip")
			c.edit(&lb)
			if _, err := w.putLB("lb", lb, ""); errorCode(err) != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestPrivateAddresses(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{DualStack: true}})
	put := func(edit func(f *armnetwork.FrontendIPConfiguration)) (armnetwork.LoadBalancer, error) {
		lb := w.internalLB("lb-internal")
		edit(lb.Properties.FrontendIPConfigurations[0])
		return w.putLB("lb-internal", lb, "")
	}
	static := func(ip string) func(*armnetwork.FrontendIPConfiguration) {
		return func(f *armnetwork.FrontendIPConfiguration) {
			f.Properties.PrivateIPAllocationMethod, f.Properties.PrivateIPAddress = to.Ptr(armnetwork.IPAllocationMethodStatic), to.Ptr(ip)
		}
	}
	zones := func(f *armnetwork.FrontendIPConfiguration) { f.Zones = to.SliceOfPtrs("1", "2", "3") }
	lb, err := put(zones)
	if err != nil || *lb.Properties.FrontendIPConfigurations[0].Properties.PrivateIPAddress != "10.241.0.4" {
		t.Fatalf("dynamic address: %v, %v", lb, err)
	}
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("another", w.internalLB("another"), ""))
	for _, c := range []struct{ ip, want string }{
		{"10.241.0.5", "PrivateIPAddressIsAllocated"}, {"10.242.0.9", "PrivateIPAddressNotInSubnet"}, {"10.241.0.2", "PrivateIPAddressInReservedRange"}, {"nonsense", "InvalidIPAddress"}, {"10.241.0.77", ""},
	} {
		_, err := put(func(f *armnetwork.FrontendIPConfiguration) { zones(f); static(c.ip)(f) })
		if errorCode(err) != c.want {
			t.Errorf("%s: %v, want %q", c.ip, err, c.want)
		}
	}
	if _, err := put(func(*armnetwork.FrontendIPConfiguration) {}); errorCode(err) != "ResourceAvailabilityZonesCannotBeModified" {
		t.Errorf("zones taken away: %v", err)
	}
	if _, err := put(func(f *armnetwork.FrontendIPConfiguration) { f.Zones = to.SliceOfPtrs("9") }); errorCode(err) != "InvalidAvailabilityZone" {
		t.Errorf("unknown zone: %v", err)
	}
}
