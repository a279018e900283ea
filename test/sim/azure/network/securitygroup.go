package network

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Priorities of rules. Source: Azure documentation, network security groups.
const (
	minPriority = 100
	maxPriority = 4096
)

const (
	securityRules = "securityRules"
	defaultRules  = "defaultSecurityRules"
)

func (a *API) securityGroups() *arm.Kind {
	return &arm.Kind{
		Type: SecurityGroups, Service: "network", Client: "SecurityGroups", ReadOnly: []string{"flowLogs"}, GUIDs: resourceGUID("nsg"),
		Shows: []arm.Show{{Property: subnets, Of: "/subnets"}, {Property: "networkInterfaces", Of: "networkinterfaces"}},
		Collections: []arm.Collection{
			{Property: securityRules, Client: "SecurityRules", Writable: true, LinkLists: []string{"sourceApplicationSecurityGroups", "destinationApplicationSecurityGroups"}},
			{Property: defaultRules, Client: "DefaultSecurityRules", Derived: true},
		},
		Prepare: a.prepareSecurityGroup, Vacate: vacateSecurityGroup, View: viewSecurityGroup,
	}
}

func vacateSecurityGroup(w *arm.Write, refs []arm.Ref) *arm.Error {
	id, _ := arm.ParseID(refs[0].From)
	if len(id.Types) > 0 && id.Types[0] == "virtualMachineScaleSets" {
		return arm.Badf("NetworkSecurityGroupInUseByVirtualMachineScaleSet", "Cannot delete network security group %s since it is in use by virtual machine scale set %s.", w.ID, refs[0].From)
	}
	return arm.Badf("InUseNetworkSecurityGroupCannotBeDeleted", "Network security group %s cannot be deleted because it is in use by the following resources: %s. In order to delete the Network security group, remove the association with the resource(s).", w.ID, refs[0].From)
}

func (a *API) prepareSecurityGroup(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, []any{}, "properties", securityRules)
	list := arm.List(w.Doc, "properties", securityRules)
	if len(list) > a.Limits.SecurityRules {
		return arm.Badf("SecurityRuleCountLimitReached", "Network security group %s has %d security rules. The limit is %d.", w.ID, len(list), a.Limits.SecurityRules)
	}
	priorities, sums := map[string]string{}, map[string]int{}
	for _, r := range list {
		if err := securityRule(r); err != nil {
			return err
		}
		n, _ := arm.Number(r, "properties", "priority")
		key := arm.Text(r, "properties", "direction") + "/" + strconv.Itoa(n)
		if other := priorities[key]; other != "" {
			return arm.Badf("SecurityRuleConflict", "Security rule %s conflicts with rule %s. Rules cannot have the same Priority and Direction. To learn more, see aka.ms/nsgrules.", arm.Text(r, "name"), other)
		}
		priorities[key] = arm.Text(r, "name")
		for _, side := range []string{"source", "destination"} {
			sums[side] += len(arm.Texts(r, "properties", side+"AddressPrefixes"))
			if arm.Text(r, "properties", side+"AddressPrefix") != "" {
				sums[side]++
			}
		}
	}
	for side, sum := range sums {
		if sum > a.Limits.RuleAddresses {
			return arm.Badf("SecurityGroupAddressPrefixCountLimitReached", "The %s address prefixes of network security group %s are %d in sum. The limit is %d.", side, w.ID, sum, a.Limits.RuleAddresses)
		}
	}
	return nil
}

func securityRule(r arm.Doc) *arm.Error {
	name, props := arm.Text(r, "name"), arm.Object(r, "properties")
	err := checkFields("security rule "+name, props, choiceField("protocol", "", "*", "Tcp", "Udp", "Icmp", "Esp", "Ah"), choiceField("access", "", "Allow", "Deny"), choiceField("direction", "", "Inbound", "Outbound"))
	if err != nil {
		return err
	}
	if n, ok := arm.Number(props, "priority"); !ok || n < minPriority || n > maxPriority {
		return arm.Badf("SecurityRuleInvalidPriority", "Security rule has invalid priority. Value provided: %v. Allowed range %d-%d.", props["priority"], minPriority, maxPriority)
	}
	family := ""
	for _, side := range []string{"source", "destination"} {
		if err := rulePorts(name, props, side); err != nil {
			return err
		}
		found, err := ruleAddresses(name, props, side)
		if err != nil {
			return err
		}
		if family != "" && found != "" && family != found {
			return mixedFamiliesError(name)
		}
		if found != "" {
			family = found
		}
	}
	return nil
}

func mixedFamiliesError(name string) *arm.Error {
	return arm.Badf("ResourceCannotContainAddressPrefixesFromDifferentAddressFamilies", "Resource %s cannot contain address prefixes from different address families.", name)
}

// onlyOne drops empty spellings of a property and wants one of the rest.
func onlyOne(name string, props arm.Doc, spellings ...string) *arm.Error {
	given := 0
	for _, s := range spellings {
		list, isList := props[s].([]any)
		if (isList && len(list) == 0) || props[s] == "" {
			delete(props, s)
		}
		if props[s] != nil {
			given++
		}
	}
	if given != 1 {
		return arm.Badf("SecurityRuleParameterCountInvalid", "Security rule %s must specify exactly one of %s; %d are specified.", name, strings.Join(spellings, ", "), given)
	}
	return nil
}

func rulePorts(name string, props arm.Doc, side string) *arm.Error {
	one, many := side+"PortRange", side+"PortRanges"
	if err := onlyOne(name, props, one, many); err != nil {
		return err
	}
	for _, text := range append(arm.Texts(props, many), arm.Text(props, one)) {
		if text == "" || (text == "*" && props[many] == nil) {
			continue
		}
		from, to, isRange := strings.Cut(text, "-")
		if !isRange {
			to = from
		}
		low, err1 := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || low < 0 || high > maxPort || low > high {
			return arm.Badf("SecurityRuleInvalidPortRange", "Security rule %s has invalid port range. Value provided: %s. Value should be an integer OR integer range with '-' delimiter. Valid range 0-65535.", name, text)
		}
	}
	return nil
}

// ruleAddresses checks one side and tells its family, "" for any.
func ruleAddresses(name string, props arm.Doc, side string) (string, *arm.Error) {
	one, many := side+"AddressPrefix", side+"AddressPrefixes"
	if err := onlyOne(name, props, one, many, side+"ApplicationSecurityGroups"); err != nil {
		return "", err
	}
	if text := arm.Text(props, one); text != "" {
		if familyOf(text) == "" && text != "*" && !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`).MatchString(text) {
			return "", badAddress(name, text)
		}
		return familyOf(text), nil
	}
	family := ""
	var ranges []netip.Prefix
	for _, text := range arm.Texts(props, many) {
		found := familyOf(text)
		switch {
		case found == "" && text != "*" && regexp.MustCompile(`^[A-Z][A-Za-z0-9.]*$`).MatchString(text):
			continue
		case found == "":
			return "", badAddress(name, text)
		case family != "" && family != found:
			return "", mixedFamiliesError(name)
		}
		family = found
		ranges = append(ranges, toPrefix(text))
	}
	if a, b, ok := findOverlap(ranges); ok {
		return "", arm.Badf("SecurityRuleContainsOverlappingAddressPrefixes", "Security rule %s contains overlapping address prefixes %s and %s.", name, a, b)
	}
	return family, nil
}

func badAddress(name, text string) *arm.Error {
	return arm.Badf("SecurityRuleInvalidAddressPrefix", "Security rule %s has invalid address prefix. Value provided: %s.", name, text)
}

func toPrefix(text string) netip.Prefix {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked()
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(a, a.BitLen())
}

// findOverlap finds two ranges that share addresses. After sorting only neighbours need
// to be compared.
func findOverlap(ranges []netip.Prefix) (a, b netip.Prefix, ok bool) {
	ranges = slices.DeleteFunc(ranges, func(p netip.Prefix) bool { return !p.IsValid() })
	slices.SortFunc(ranges, func(x, y netip.Prefix) int {
		if c := x.Addr().Compare(y.Addr()); c != 0 {
			return c
		}
		return x.Bits() - y.Bits()
	})
	for i := 1; i < len(ranges); i++ {
		if ranges[i-1].Overlaps(ranges[i]) {
			return ranges[i-1], ranges[i], true
		}
	}
	return a, b, false
}

// viewSecurityGroup adds the six rules every group has.
// Source: Azure documentation, default security rules.
func viewSecurityGroup(_ *arm.State, r *arm.Resource, d arm.Doc) {
	var list []any
	for _, x := range []struct {
		name, direction, access, from, to string
		priority                          int
	}{
		{"AllowVnetInBound", "Inbound", "Allow", "VirtualNetwork", "VirtualNetwork", 65000},
		{"AllowAzureLoadBalancerInBound", "Inbound", "Allow", "AzureLoadBalancer", "*", 65001},
		{"DenyAllInBound", "Inbound", "Deny", "*", "*", 65500},
		{"AllowVnetOutBound", "Outbound", "Allow", "VirtualNetwork", "VirtualNetwork", 65000},
		{"AllowInternetOutBound", "Outbound", "Allow", "*", "Internet", 65001},
		{"DenyAllOutBound", "Outbound", "Deny", "*", "*", 65500},
	} {
		list = append(list, arm.Doc{"name": x.name, "id": r.ID.Child(defaultRules, x.name).String(), "properties": arm.Doc{
			"protocol": "*", "sourcePortRange": "*", "destinationPortRange": "*", "sourceAddressPrefix": x.from, "destinationAddressPrefix": x.to,
			"access": x.access, "priority": x.priority, "direction": x.direction,
		}})
	}
	arm.Put(d, list, "properties", defaultRules)
	for _, rule := range arm.List(d, "properties", securityRules) {
		for _, side := range []string{"source", "destination"} {
			arm.Default(rule, []any{}, "properties", side+"AddressPrefixes")
			arm.Default(rule, []any{}, "properties", side+"PortRanges")
		}
	}
}
