package network

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// maxPublicIdle is in minutes. Source: Azure REST API reference, public IP addresses.
const maxPublicIdle = 30

func (a *API) publicIPs() *arm.Kind {
	return &arm.Kind{
		Type: PublicIPAddresses, Service: "network", Client: "PublicIPAddresses",
		GUIDs: resourceGUID("publicip"), Links: []string{"publicIPPrefix"}, Touches: []string{"publicIPPrefix"},
		Shows: []arm.Show{
			{Property: "ipConfiguration", By: []string{"publicIPAddress"}, One: true},
			{Property: "natGateway", By: []string{"publicIpAddresses", "publicIpAddressesV6"}, One: true},
		},
		Prepare: a.preparePublicIP, View: a.viewPublicIP,
		Vacate: inUse("PublicIPAddressCannotBeDeleted", "Public IP address %s can not be deleted since it is still allocated to resource %s. In order to delete the public IP, disassociate/detach the Public IP address from the resource."),
	}
}

func (a *API) preparePublicIP(w *arm.Write) *arm.Error {
	if err := a.sku(w, "IPv4BasicSkuPublicIpCountLimitReached"); err != nil {
		return err
	}
	props := w.Props()
	err := checkFields(w.ID, props, choiceField("publicIPAddressVersion", ipv4, ipv4, ipv6), choiceField("publicIPAllocationMethod", "Dynamic", "Dynamic", "Static"), idleField(maxPublicIdle))
	if err != nil {
		return err
	}
	standard := arm.Text(w.Doc, "sku", "name") != "Basic"
	if standard && arm.Text(props, "publicIPAllocationMethod") != "Static" {
		return arm.Badf("StandardSkuPublicIPAddressesMustBeStatic", "Standard SKU publicIp %s must have AllocationMethod set to Static.", w.ID)
	}
	for _, step := range []func(*arm.Write) *arm.Error{a.zonesOfResource, a.publicFixed, checkLabel, a.allocate} {
		if err := step(w); err != nil {
			return err
		}
	}
	return nil
}

// publicFixed refuses changes of what is decided when an address is made.
func (a *API) publicFixed(w *arm.Write) *arm.Error {
	old, props := arm.Object(w.OldDoc(), "properties"), w.Props()
	if w.Old == nil {
		if n := len(w.State.All(PublicIPAddresses)); n >= a.Limits.PublicIPs {
			return arm.Badf("PublicIPCountLimitReached", "Cannot create more than %d public IP addresses for this subscription in this region.", a.Limits.PublicIPs)
		}
		return nil
	}
	if was, is := arm.Text(old, "publicIPAddressVersion"), arm.Text(props, "publicIPAddressVersion"); was != is {
		return arm.Badf("PublicIPAddressVersionCannotBeChanged", "Public IP address %s has version %s, which cannot be changed to %s.", w.ID, was, is)
	}
	if was, is := arm.Text(old, "publicIPPrefix", "id"), arm.Text(props, "publicIPPrefix", "id"); arm.Key(was) != arm.Key(is) {
		return arm.Badf("PublicIPPrefixOfPublicIPAddressCannotBeChanged", "The public IP prefix of public IP address %s cannot be changed.", w.ID)
	}
	return nil
}

// checkLabel checks the DNS label, which one address of each version in a region can
// have: A and AAAA are two records of one name. Source:
// kubernetes-sigs/cloud-provider-azure:tests/e2e/network/service_annotations.go,
// which gives both addresses of a Service one label.
func checkLabel(w *arm.Write) *arm.Error {
	props := w.Props()
	label := arm.Text(props, "dnsSettings", "domainNameLabel")
	if label == "" {
		delete(props, "dnsSettings")
		return nil
	}
	location := arm.Text(w.Doc, "location")
	if !regexp.MustCompile(`^[a-z][a-z0-9-]{1,61}[a-z0-9]$`).MatchString(label) {
		return arm.Badf("InvalidDomainNameLabel", "The domain name label %s is invalid. It must conform to the following regular expression: ^[a-z][a-z0-9-]{1,61}[a-z0-9]$.", label)
	}
	if slices.ContainsFunc([]string{"microsoft", "windows", "azure", "xbox"}, func(word string) bool { return strings.HasPrefix(label, word) }) {
		return arm.Badf("DomainNameLabelReserved", "The domain name label %s is reserved.", label)
	}
	for _, r := range w.State.All(PublicIPAddresses) {
		same := arm.Text(r.Doc, "properties", "publicIPAddressVersion") == arm.Text(props, "publicIPAddressVersion") && arm.Text(r.Doc, "location") == location
		if same && r.ID.Key() != w.ID.Key() && arm.Text(r.Doc, "properties", "dnsSettings", "domainNameLabel") == label {
			return arm.Badf("DnsRecordInUse", "DNS record %s.%s.cloudapp.azure.com is already used by another public IP.", label, location)
		}
	}
	arm.Put(props, label+"."+location+".cloudapp.azure.com", "dnsSettings", "fqdn")
	return nil
}

// allocate gives the address. Addresses are handed out in one row and never
// twice, so that a stale one is noticed; those of a prefix are its lowest free.
func (a *API) allocate(w *arm.Write) *arm.Error {
	props := w.Props()
	if had := arm.Text(w.OldDoc(), "properties", "ipAddress"); had != "" {
		props["ipAddress"] = had
		return nil
	}
	delete(props, "ipAddress")
	six := arm.Text(props, "publicIPAddressVersion") == ipv6
	prefix := arm.Text(props, "publicIPPrefix", "id")
	if prefix != "" {
		return fromPrefix(w, prefix, six)
	}
	if arm.Text(props, "publicIPAllocationMethod") != "Static" {
		return nil
	}
	if six {
		a.nextIPv6++
		props["ipAddress"] = netip.AddrFrom16([16]byte{0x26, 3, 0x10, 0x30, 8, 5, 14: byte(a.nextIPv6 >> 8), 15: byte(a.nextIPv6)}).String()
		return nil
	}
	a.nextIPv4++
	props["ipAddress"] = netip.AddrFrom4([4]byte{20, byte(61 + a.nextIPv4>>16), byte(a.nextIPv4 >> 8), byte(a.nextIPv4)}).String()
	return nil
}

func fromPrefix(w *arm.Write, id string, six bool) *arm.Error {
	r := w.State.Lookup(id)
	if r == nil {
		return unknownReference(id, w.ID)
	}
	block, err := netip.ParsePrefix(arm.Text(r.Doc, "properties", "ipPrefix"))
	if err != nil || block.Addr().Is6() != six {
		return arm.Badf("PublicIPAddressAndPublicIPPrefixVersionMismatch", "Public IP address %s and public IP prefix %s have different versions.", w.ID, r.ID)
	}
	used := map[string]bool{}
	for _, ref := range w.State.ReferredBy(id) {
		if user := w.State.Lookup(ref.From); user != nil {
			used[arm.Text(user.Doc, "properties", "ipAddress")] = true
		}
	}
	for ip := block.Addr(); block.Contains(ip); ip = ip.Next() {
		if !used[ip.String()] {
			w.Props()["ipAddress"] = ip.String()
			return nil
		}
	}
	return arm.Badf("PublicIPPrefixOutOfIPAddressesForPublicIPAddress", "Public IP prefix %s has no free address for public IP address %s.", r.ID, w.ID)
}

// detached records the public IPs that a load balancer has released: for some more reads they
// are shown on the deleted frontend.
func (a *API) detached(w *arm.Write) {
	if a.AttachedReads <= 0 {
		return
	}
	for _, f := range arm.List(w.OldDoc(), "properties", "frontendIPConfigurations") {
		if id := arm.Text(f, "properties", "publicIPAddress", "id"); id != "" {
			l := &lag{frontend: w.ID.String() + "/frontendIPConfigurations/" + arm.Text(f, "name")}
			l.reads.Store(int32(a.AttachedReads))
			a.lags.Store(arm.Key(id), l)
		}
	}
}

// lag is what a public IP still shows.
type lag struct {
	frontend string
	reads    atomic.Int32 // for so many reads
}

func (a *API) viewPublicIP(_ *arm.State, r *arm.Resource, d arm.Doc) {
	if v, late := a.lags.Load(arm.Key(r.ID.String())); late {
		if l, is := v.(*lag); is && l.reads.Add(-1) >= 0 {
			arm.Default(d, arm.Doc{"id": l.frontend}, "properties", "ipConfiguration")
		}
	}
	arm.Default(d, []any{}, "properties", "ipTags")
}

func (a *API) prefixes() *arm.Kind {
	return &arm.Kind{
		Type: PublicIPPrefixes, Service: "network", Client: "PublicIPPrefixes", GUIDs: resourceGUID("publicipprefix"),
		Shows: []arm.Show{
			{Property: "publicIPAddresses", Of: "/publicipaddresses", Empty: true},
			{Property: "loadBalancerFrontendIpConfiguration", Of: "/frontendipconfigurations", One: true},
		},
		Prepare: a.preparePrefix,
		Vacate:  inUse("PublicIPPrefixCannotBeDeleted", "Public IP prefix %s can not be deleted since it is still used by resource %s."),
	}
}

func (a *API) preparePrefix(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, "Standard", "sku", "name")
	props := w.Props()
	if err := checkFields(w.ID, props, choiceField("publicIPAddressVersion", ipv4, ipv4, ipv6)); err != nil {
		return err
	}
	if err := a.zonesOfResource(w); err != nil {
		return err
	}
	low, high := 24, 31
	if arm.Text(props, "publicIPAddressVersion") == ipv6 {
		low, high = 120, 127
	}
	if err := checkFields(w.ID, props, numberField("prefixLength", 0, low, high, "InvalidPublicIPPrefixLength")); err != nil {
		return err
	}
	if w.Old != nil {
		was, _ := arm.Number(w.OldDoc(), "properties", "prefixLength")
		if is, _ := arm.Number(props, "prefixLength"); was != is {
			return arm.Badf("PublicIPPrefixLengthCannotBeChanged", "The length of public IP prefix %s cannot be changed.", w.ID)
		}
		props["ipPrefix"] = arm.Text(w.OldDoc(), "properties", "ipPrefix")
		return nil
	}
	a.nextPrefix++
	length, _ := arm.Number(props, "prefixLength")
	base := netip.AddrFrom4([4]byte{20, 120, byte(a.nextPrefix), 0})
	if high == 127 {
		base = netip.AddrFrom16([16]byte{0x26, 3, 0x10, 0x30, 9, 5, 13: byte(a.nextPrefix)})
	}
	props["ipPrefix"] = netip.PrefixFrom(base, length).String()
	return nil
}
