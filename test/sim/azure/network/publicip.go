package network

import (
	"net/http"
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
		ReadOnly: []string{"ipConfiguration", "resourceGuid", "natGateway"}, Links: []string{"publicIPPrefix"},
		Prepare: a.preparePublicIP, Stored: a.storedPublicIP, View: a.viewPublicIP,
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			return badRequest("PublicIPAddressCannotBeDeleted", "Public IP address %s can not be deleted since it is still allocated to resource %s. In order to delete the public IP, disassociate/detach the Public IP address from the resource.", w.ID, refs[0].From)
		},
	}
}

func (a *API) preparePublicIP(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, arm.Doc{}, "properties")
	if err := a.sku(w, "IPv4BasicSkuPublicIpCountLimitReached"); err != nil {
		return err
	}
	props := w.Props()
	if err := normalizeChoice(props, w.ID.String(), "publicIPAddressVersion", ipv4, ipv4, ipv6); err != nil {
		return err
	}
	if err := normalizeChoice(props, w.ID.String(), "publicIPAllocationMethod", "Dynamic", "Dynamic", "Static"); err != nil {
		return err
	}
	if err := checkNumber(props, w.ID.String(), "idleTimeoutInMinutes", minIdle, minIdle, maxPublicIdle, "InvalidIdleTimeout"); err != nil {
		return err
	}
	standard := arm.Text(w.Doc, "sku", "name") != "Basic"
	if standard && arm.Text(props, "publicIPAllocationMethod") != "Static" {
		return badRequest("StandardSkuPublicIPAddressesMustBeStatic", "Standard SKU publicIp %s must have AllocationMethod set to Static.", w.ID)
	}
	if err := a.zones(w.ID.String(), w.Doc, oldOrNil(w)); err != nil {
		return err
	}
	if err := a.publicFixed(w); err != nil {
		return err
	}
	if err := a.label(w); err != nil {
		return err
	}
	return a.allocate(w)
}

func oldOrNil(w *arm.Write) arm.Doc {
	if w.Old == nil {
		return nil
	}
	return w.Old.Doc
}

// publicFixed refuses changes of what is decided when an address is made.
func (a *API) publicFixed(w *arm.Write) *arm.Error {
	old, props := arm.Object(w.OldDoc(), "properties"), w.Props()
	if w.Old == nil {
		if n := len(w.State.All(PublicIPAddresses)); n >= a.Limits.PublicIPs {
			return badRequest("PublicIPCountLimitReached", "Cannot create more than %d public IP addresses for this subscription in this region.", a.Limits.PublicIPs)
		}
		props["resourceGuid"] = w.GUID("publicip")
		return nil
	}
	props["resourceGuid"] = old["resourceGuid"]
	if was, is := arm.Text(old, "publicIPAddressVersion"), arm.Text(props, "publicIPAddressVersion"); was != is {
		return badRequest("PublicIPAddressVersionCannotBeChanged", "Public IP address %s has version %s, which cannot be changed to %s.", w.ID, was, is)
	}
	if was, is := arm.Text(old, "publicIPPrefix", "id"), arm.Text(props, "publicIPPrefix", "id"); arm.Key(was) != arm.Key(is) {
		return badRequest("PublicIPPrefixOfPublicIPAddressCannotBeChanged", "The public IP prefix of public IP address %s cannot be changed.", w.ID)
	}
	return nil
}

// label checks the DNS label, which one address of each version in a region can
// have: A and AAAA are two records of one name. Source:
// kubernetes-sigs/cloud-provider-azure:tests/e2e/network/service_annotations.go,
// which gives both addresses of a Service one label.
func (a *API) label(w *arm.Write) *arm.Error {
	props := w.Props()
	label := arm.Text(props, "dnsSettings", "domainNameLabel")
	if label == "" {
		delete(props, "dnsSettings")
		return nil
	}
	location := arm.Text(w.Doc, "location")
	if !regexp.MustCompile(`^[a-z][a-z0-9-]{1,61}[a-z0-9]$`).MatchString(label) {
		return badRequest("InvalidDomainNameLabel", "The domain name label %s is invalid. It must conform to the following regular expression: ^[a-z][a-z0-9-]{1,61}[a-z0-9]$.", label)
	}
	if slices.ContainsFunc([]string{"microsoft", "windows", "azure", "xbox"}, func(word string) bool { return strings.HasPrefix(label, word) }) {
		return badRequest("DomainNameLabelReserved", "The domain name label %s is reserved.", label)
	}
	if user := a.labelUser(w.State, location, label, arm.Text(props, "publicIPAddressVersion")); user != "" && arm.Key(user) != w.ID.Key() {
		return badRequest("DnsRecordInUse", "DNS record %s.%s.cloudapp.azure.com is already used by another public IP.", label, location)
	}
	arm.Put(props, label+"."+location+".cloudapp.azure.com", "dnsSettings", "fqdn")
	return nil
}

// labelUser returns the id of the address with a label, or a word when another subscription
// has it. No version means any.
func (a *API) labelUser(s *arm.State, location, label, version string) string {
	if slices.Contains(a.TakenLabels, label) {
		return "another subscription"
	}
	for _, r := range s.All(PublicIPAddresses) {
		same := version == "" || arm.Text(r.Doc, "properties", "publicIPAddressVersion") == version
		if same && arm.Text(r.Doc, "location") == location && arm.Text(r.Doc, "properties", "dnsSettings", "domainNameLabel") == label {
			return r.ID.String()
		}
	}
	return ""
}

func (a *API) dnsCheck() arm.Extra {
	return arm.Extra{
		Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/microsoft.network/locations/{l}/checkdnsnameavailability", Service: "network", Name: "CheckDNSNameAvailability",
		Run: func(c *arm.Call) *arm.Response {
			label := c.Query.Get("domainnamelabel")
			return arm.Reply(http.StatusOK, arm.Doc{"available": a.labelUser(c.Svc.State, arm.Location(c.Segment(5)), label, "") == ""})
		},
	}
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
		return badRequest("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", id, w.ID)
	}
	block, err := netip.ParsePrefix(arm.Text(r.Doc, "properties", "ipPrefix"))
	if err != nil || block.Addr().Is6() != six {
		return badRequest("PublicIPAddressAndPublicIPPrefixVersionMismatch", "Public IP address %s and public IP prefix %s have different versions.", w.ID, r.ID)
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
	return badRequest("PublicIPPrefixOutOfIPAddressesForPublicIPAddress", "Public IP prefix %s has no free address for public IP address %s.", r.ID, w.ID)
}

// storedPublicIP updates the etag of the prefix when an address of it is added or removed.
func (a *API) storedPublicIP(w *arm.Write) {
	if (w.Old == nil) != (w.Doc == nil) {
		for _, d := range []arm.Doc{w.OldDoc(), w.Doc} {
			touchID(w, arm.Text(d, "properties", "publicIPPrefix", "id"))
		}
	}
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

func (a *API) viewPublicIP(s *arm.State, r *arm.Resource, d arm.Doc) {
	if v, late := a.lags.Load(arm.Key(r.ID.String())); late {
		if l, is := v.(*lag); is && l.reads.Add(-1) >= 0 {
			arm.Put(d, arm.Doc{"id": l.frontend}, "properties", "ipConfiguration")
		}
	}
	for _, ref := range s.ReferredBy(r.ID.String()) {
		switch ref.Property {
		case "publicIPAddress":
			arm.Put(d, arm.Doc{"id": ref.From}, "properties", "ipConfiguration")
		case "publicIpAddresses", "publicIpAddressesV6":
			arm.Put(d, arm.Doc{"id": ref.From}, "properties", "natGateway")
		}
	}
	arm.Default(d, []any{}, "properties", "ipTags")
}

func (a *API) prefixes() *arm.Kind {
	return &arm.Kind{
		Type: PublicIPPrefixes, Service: "network", Client: "PublicIPPrefixes", ReadOnly: []string{"publicIPAddresses", "loadBalancerFrontendIpConfiguration", "resourceGuid"},
		Prepare: a.preparePrefix,
		Vacate: func(w *arm.Write, refs []arm.Ref) *arm.Error {
			return badRequest("PublicIPPrefixCannotBeDeleted", "Public IP prefix %s can not be deleted since it is still used by resource %s.", w.ID, refs[0].From)
		},
		View: func(s *arm.State, r *arm.Resource, d arm.Doc) {
			var ids []string
			for _, ref := range s.ReferredBy(r.ID.String()) {
				id, _ := arm.ParseID(ref.From)
				if id.Type() == PublicIPAddresses {
					ids = append(ids, ref.From)
				} else {
					arm.Put(d, arm.Doc{"id": ref.From}, "properties", "loadBalancerFrontendIpConfiguration")
				}
			}
			arm.Put(d, arm.Refs(ids), "properties", "publicIPAddresses")
		},
	}
}

func (a *API) preparePrefix(w *arm.Write) *arm.Error {
	arm.Default(w.Doc, arm.Doc{}, "properties")
	arm.Default(w.Doc, "Standard", "sku", "name")
	props := w.Props()
	if err := normalizeChoice(props, w.ID.String(), "publicIPAddressVersion", ipv4, ipv4, ipv6); err != nil {
		return err
	}
	if err := a.zones(w.ID.String(), w.Doc, oldOrNil(w)); err != nil {
		return err
	}
	low, high := 24, 31
	if arm.Text(props, "publicIPAddressVersion") == ipv6 {
		low, high = 120, 127
	}
	if err := checkNumber(props, w.ID.String(), "prefixLength", 0, low, high, "InvalidPublicIPPrefixLength"); err != nil {
		return err
	}
	if w.Old != nil {
		was, _ := arm.Number(w.OldDoc(), "properties", "prefixLength")
		if is, _ := arm.Number(props, "prefixLength"); was != is {
			return badRequest("PublicIPPrefixLengthCannotBeChanged", "The length of public IP prefix %s cannot be changed.", w.ID)
		}
		props["ipPrefix"], props["resourceGuid"] = arm.Text(w.OldDoc(), "properties", "ipPrefix"), arm.Text(w.OldDoc(), "properties", "resourceGuid")
		return nil
	}
	a.nextPrefix++
	length, _ := arm.Number(props, "prefixLength")
	base := netip.AddrFrom4([4]byte{20, 120, byte(a.nextPrefix), 0})
	if high == 127 {
		base = netip.AddrFrom16([16]byte{0x26, 3, 0x10, 0x30, 9, 5, 13: byte(a.nextPrefix)})
	}
	props["ipPrefix"], props["resourceGuid"] = netip.PrefixFrom(base, length).String(), w.GUID("publicipprefix")
	return nil
}
