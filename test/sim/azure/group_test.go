package azure_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"

	simazure "github.com/berth-lb/berth/test/sim/azure"
)

func allowRule(name string, priority int32) *armnetwork.SecurityRule {
	return &armnetwork.SecurityRule{Name: to.Ptr(name), Properties: &armnetwork.SecurityRulePropertiesFormat{
		Protocol: to.Ptr(armnetwork.SecurityRuleProtocolTCP), Access: to.Ptr(armnetwork.SecurityRuleAccessAllow), Direction: to.Ptr(armnetwork.SecurityRuleDirectionInbound), Priority: to.Ptr(priority),
		SourceAddressPrefix: to.Ptr("Internet"), SourcePortRange: to.Ptr("*"), DestinationAddressPrefix: to.Ptr("20.61.0.1"), DestinationPortRanges: to.SliceOfPtrs("443", "80"),
	}}
}

func (w *world) putGroup(rules ...*armnetwork.SecurityRule) (armnetwork.SecurityGroup, error) {
	w.t.Helper()
	p, err := w.net.NewSecurityGroupsClient().BeginCreateOrUpdate(w.t.Context(), w.seed.ResourceGroup, w.seed.SecurityGroup, armnetwork.SecurityGroup{
		Location: to.Ptr("eastus"), Properties: &armnetwork.SecurityGroupPropertiesFormat{SecurityRules: rules},
	}, nil)
	out, err := pollDone(w.t.Context(), p, err)
	return out.SecurityGroup, err
}

func TestSecurityRules(t *testing.T) {
	w := startWorld(t, simazure.Options{})
	for _, c := range []struct {
		name, want string
		edit       func(p *armnetwork.SecurityRulePropertiesFormat)
	}{
		{"as it should be", "", func(*armnetwork.SecurityRulePropertiesFormat) {}},
		{"priority 99", "SecurityRuleInvalidPriority", func(p *armnetwork.SecurityRulePropertiesFormat) { p.Priority = to.Ptr[int32](99) }},
		{"priority 4097", "SecurityRuleInvalidPriority", func(p *armnetwork.SecurityRulePropertiesFormat) { p.Priority = to.Ptr[int32](4097) }},
		{"priority taken", "SecurityRuleConflict", func(p *armnetwork.SecurityRulePropertiesFormat) { p.Priority = to.Ptr[int32](501) }},
		{"priority of the other direction", "", func(p *armnetwork.SecurityRulePropertiesFormat) {
			p.Priority, p.Direction = to.Ptr[int32](501), to.Ptr(armnetwork.SecurityRuleDirectionOutbound)
		}},
		{"no source", "SecurityRuleParameterCountInvalid", func(p *armnetwork.SecurityRulePropertiesFormat) { p.SourceAddressPrefix = nil }},
		{"two spellings", "SecurityRuleParameterCountInvalid", func(p *armnetwork.SecurityRulePropertiesFormat) {
			p.SourceAddressPrefixes = to.SliceOfPtrs("10.0.0.0/8")
		}},
		{"empty plural", "", func(p *armnetwork.SecurityRulePropertiesFormat) { p.SourceAddressPrefixes = []*string{} }},
		{"bad port", "SecurityRuleInvalidPortRange", func(p *armnetwork.SecurityRulePropertiesFormat) { p.DestinationPortRanges = to.SliceOfPtrs("80-79") }},
		{"bad address", "SecurityRuleInvalidAddressPrefix", func(p *armnetwork.SecurityRulePropertiesFormat) { p.DestinationAddressPrefix = to.Ptr("300.1.1.1") }},
		{"two families in a list", "ResourceCannotContainAddressPrefixesFromDifferentAddressFamilies", func(p *armnetwork.SecurityRulePropertiesFormat) {
			p.SourceAddressPrefix, p.SourceAddressPrefixes = nil, to.SliceOfPtrs("10.0.0.0/8", "fd00::/8")
		}},
		{"two families in a rule", "ResourceCannotContainAddressPrefixesFromDifferentAddressFamilies", func(p *armnetwork.SecurityRulePropertiesFormat) { p.SourceAddressPrefix = to.Ptr("fd00::/8") }},
		{"overlap", "SecurityRuleContainsOverlappingAddressPrefixes", func(p *armnetwork.SecurityRulePropertiesFormat) {
			p.SourceAddressPrefix, p.SourceAddressPrefixes = nil, to.SliceOfPtrs("10.0.0.0/8", "10.1.0.0/16")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := allowRule("rule", 500)
			c.edit(r.Properties)
			if _, err := w.putGroup(r, allowRule("other", 501)); errorCode(err) != c.want {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	group, err := w.putGroup(allowRule("rule", 500))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(group.Properties.DefaultSecurityRules); n != 6 || *group.Properties.DefaultSecurityRules[0].Properties.Priority != 65000 {
		t.Errorf("%d default rules, want 6 from 65000", n)
	}
	if len(group.Properties.Subnets) != 1 || !strings.HasSuffix(*group.Properties.Subnets[0].ID, "/subnets/nodes") {
		t.Errorf("subnets of the group: %v, want that of the nodes", group.Properties.Subnets)
	}
	again, err := w.putGroup(group.Properties.SecurityRules...)
	if err != nil || *again.Etag == *group.Etag {
		t.Errorf("what was read, written again: %v", err)
	}
	p, err := w.net.NewSecurityGroupsClient().BeginDelete(t.Context(), w.seed.ResourceGroup, w.seed.SecurityGroup, nil)
	if _, err := pollDone(t.Context(), p, err); errorCode(err) != "InUseNetworkSecurityGroupCannotBeDeleted" {
		t.Errorf("delete of a group in use: %v", err)
	}
}

func TestSecurityGroupLimits(t *testing.T) {
	opt := simazure.Options{}
	opt.Network.Limits.SecurityRules, opt.Network.Limits.RuleAddresses = 2, 3
	w := startWorld(t, opt)
	many := allowRule("many", 500)
	many.Properties.DestinationAddressPrefix, many.Properties.DestinationAddressPrefixes = nil, to.SliceOfPtrs("20.0.0.1", "20.0.0.2", "20.0.0.3", "20.0.0.4")
	if _, err := w.putGroup(many); errorCode(err) != "SecurityGroupAddressPrefixCountLimitReached" {
		t.Errorf("too many addresses: %v", err)
	}
	if _, err := w.putGroup(allowRule("a", 500), allowRule("b", 501), allowRule("c", 502)); errorCode(err) != "SecurityRuleCountLimitReached" {
		t.Errorf("too many rules: %v", err)
	}
}

func TestPublicIPs(t *testing.T) {
	opt := simazure.Options{}
	opt.Network.Limits.PublicIPs = 6
	w := startWorld(t, opt)
	label := func(text string) func(*armnetwork.PublicIPAddress) {
		return func(p *armnetwork.PublicIPAddress) {
			p.Properties.DNSSettings = &armnetwork.PublicIPAddressDNSSettings{DomainNameLabel: to.Ptr(text)}
		}
	}
	prefix := func(p *armnetwork.PublicIPAddress) {
		p.Properties.PublicIPPrefix = &armnetwork.SubResource{ID: to.Ptr(w.id("publicIPPrefixes", w.seed.PublicIPPrefix))}
	}
	for _, c := range []struct {
		step, name, want string
		edit             func(*armnetwork.PublicIPAddress)
	}{
		{"with a label", "one", "", label("shop")},
		{"same label", "two", "DnsRecordInUse", label("shop")},
		{"bad label", "two", "InvalidDomainNameLabel", label("-x")},
		{"reserved label", "two", "DomainNameLabelReserved", label("microsoft-x")},
		{"Basic", "two", "IPv4BasicSkuPublicIpCountLimitReached", func(p *armnetwork.PublicIPAddress) { p.SKU = nil }},
		{"dynamic", "two", "StandardSkuPublicIPAddressesMustBeStatic", func(p *armnetwork.PublicIPAddress) {
			p.Properties.PublicIPAllocationMethod = to.Ptr(armnetwork.IPAllocationMethodDynamic)
		}},
		{"idle 31", "two", "InvalidIdleTimeout", func(p *armnetwork.PublicIPAddress) { p.Properties.IdleTimeoutInMinutes = to.Ptr[int32](31) }},
		{"other version", "one", "PublicIPAddressVersionCannotBeChanged", func(p *armnetwork.PublicIPAddress) {
			p.Properties.PublicIPAddressVersion = to.Ptr(armnetwork.IPVersionIPv6)
		}},
		{"other zones", "one", "ResourceAvailabilityZonesCannotBeModified", func(p *armnetwork.PublicIPAddress) { p.Zones = nil }},
		{"from a prefix", "three", "", prefix},
		{"IPv6 from an IPv4 prefix", "four", "PublicIPAddressAndPublicIPPrefixVersionMismatch", func(p *armnetwork.PublicIPAddress) {
			prefix(p)
			p.Properties.PublicIPAddressVersion = to.Ptr(armnetwork.IPVersionIPv6)
		}},
		{"IPv6 with the same label", "six", "", func(p *armnetwork.PublicIPAddress) {
			label("shop")(p)
			p.Properties.PublicIPAddressVersion = to.Ptr(armnetwork.IPVersionIPv6)
		}},
		{"fourth", "seven", "", nil}, {"fifth", "eight", "", nil}, {"sixth", "nine", "", nil}, {"quota", "ten", "PublicIPCountLimitReached", nil},
	} {
		if _, err := w.putIP(c.name, c.edit); errorCode(err) != c.want {
			t.Errorf("%s: %v, want %q", c.step, err, c.want)
		}
	}
	got := map[string]string{}
	pager := w.net.NewPublicIPAddressesClient().NewListPager(w.seed.ResourceGroup, nil)
	for pager.More() {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Value {
			got[*p.Name] = *p.Properties.IPAddress
			if p.Properties.DNSSettings != nil {
				got[*p.Name] += " " + *p.Properties.DNSSettings.Fqdn
			}
		}
	}
	want := map[string]string{
		"one": "20.61.0.1 shop.eastus.cloudapp.azure.com", "three": "20.120.1.0", "six": "2603:1030:805::1 shop.eastus.cloudapp.azure.com", "seven": "20.61.0.2", "eight": "20.61.0.3", "nine": "20.61.0.4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got)\n%s", diff)
	}
	p, err := w.net.NewPublicIPPrefixesClient().BeginDelete(t.Context(), w.seed.ResourceGroup, w.seed.PublicIPPrefix, nil)
	if _, err := pollDone(t.Context(), p, err); errorCode(err) != "PublicIPPrefixCannotBeDeleted" {
		t.Errorf("delete of a prefix in use: %v", err)
	}
}

func TestSubnets(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 1}})
	client := w.net.NewSubnetsClient()
	put := func(name, prefix string, edit func(*armnetwork.Subnet)) error {
		s := armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: to.Ptr(prefix)}}
		if edit != nil {
			edit(&s)
		}
		p, err := client.BeginCreateOrUpdate(t.Context(), w.seed.NetworkGroup, w.seed.Network, name, s, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	remove := func(name string) error {
		p, err := client.BeginDelete(t.Context(), w.seed.NetworkGroup, w.seed.Network, name, nil)
		_, err = pollDone(t.Context(), p, err)
		return err
	}
	for _, c := range []struct {
		step, want string
		err        error
	}{
		{"new", "", put("extra", "10.245.0.0/24", nil)},
		{"overlap", "NetcfgSubnetRangesOverlap", put("more", "10.245.0.128/25", nil)},
		{"outside", "NetcfgInvalidSubnet", put("more", "192.168.0.0/24", nil)},
		{"range of a used one", "InUseSubnetCannotBeUpdated", put("nodes", "10.240.0.0/17", nil)},
		{"policies", "", put("extra", "10.245.0.0/24", func(s *armnetwork.Subnet) {
			s.Properties.PrivateLinkServiceNetworkPolicies = to.Ptr(armnetwork.VirtualNetworkPrivateLinkServiceNetworkPoliciesDisabled)
		})},
		{"delete of a used one", "InUseSubnetCannotBeDeleted", remove("nodes")},
		{"delete", "", remove("extra")},
		{"second delete", "", remove("extra")},
	} {
		if errorCode(c.err) != c.want {
			t.Errorf("%s: %v, want %q", c.step, c.err, c.want)
		}
	}
	_, err := client.Get(t.Context(), w.seed.NetworkGroup, w.seed.Network, "extra", nil)
	if errorCode(err) != "NotFound" || httpStatus(err) != 404 {
		t.Errorf("missing subnet: %v", err)
	}
	_, err = client.Get(t.Context(), w.seed.NetworkGroup, "none", "extra", nil)
	if errorCode(err) != "ResourceNotFound" {
		t.Errorf("subnet of a missing network: %v", err)
	}
	_, err = client.Get(t.Context(), "none", "none", "extra", nil)
	if errorCode(err) != "ResourceGroupNotFound" {
		t.Errorf("subnet in a missing group: %v", err)
	}
	nodes := mustSucceed[armnetwork.SubnetsClientGetResponse](t)(client.Get(t.Context(), w.seed.NetworkGroup, w.seed.Network, "nodes", nil))
	if len(nodes.Properties.IPConfigurations) != 1 || *nodes.Properties.IPConfigurations[0].ID != w.seed.Nodes[0].IPConfiguration {
		t.Errorf("configurations in the subnet: %v, want that of the node", nodes.Properties.IPConfigurations)
	}
}
