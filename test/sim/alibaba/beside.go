package alibaba

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

// getList answers an access control list. Source: API of SLB, DescribeAccessControlListAttribute.
func getList(v *visit) (any, error) {
	list, ok := v.State.Get(lists, v.text("AclId"))
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "AclNotExist", "The specified access control list does not exist: %s", v.text("AclId"))
	}
	entries := []any{}
	for _, e := range list.Texts("entries") {
		entries = append(entries, rest.Object{"AclEntryIP": e, "AclEntryComment": ""})
	}
	return answerDone(rest.Object{"AclId": list.Text("id"), "AclEntrys": rest.Object{"AclEntry": entries}}), nil
}

// listCertificates answers server certificates. Source: API of SLB, DescribeServerCertificates.
func listCertificates(v *visit) (any, error) {
	items := []any{}
	for _, c := range v.State.All(certificates, nil) {
		if id := v.text("ServerCertificateId"); id == "" || id == c.Text("id") {
			items = append(items, rest.Object{"ServerCertificateId": c.Text("id"), "ExpireTimeStamp": v.Time.AddDate(1, 0, 0).UnixMilli()})
		}
	}
	return answerDone(rest.Object{"ServerCertificates": rest.Object{"ServerCertificate": items}}), nil
}

// mostDomains is how many further certificates a listener has. Source: Alibaba Cloud, quotas of CLB.
const mostDomains = 10

func listDomains(v *visit, lb rest.Object) (any, error) {
	items := []any{}
	for _, d := range v.State.Having(domains, "listener", listenerID(lb.Text("id"), "https", v.number("ListenerPort"))) {
		items = append(items, d.Only("DomainExtensionId", "Domain", "ServerCertificateId"))
	}
	return answerDone(rest.Object{"DomainExtensions": rest.Object{"DomainExtension": items}}), nil
}

func createDomain(v *visit, lb rest.Object) (any, error) {
	l, err := v.listener(lb, "https")
	if err != nil {
		return nil, err
	}
	if _, ok := v.State.Get(certificates, v.text("ServerCertificateId")); !ok {
		return nil, refuseMissing("ServerCertificateId", v.text("ServerCertificateId"))
	}
	all := v.State.Having(domains, "listener", l.Text("id"))
	if slices.ContainsFunc(all, rest.Where("Domain", v.text("Domain"))) {
		return nil, rest.Refuse(http.StatusBadRequest, "DomainExtensionExist", "The domain exists.")
	}
	if len(all) >= mostDomains {
		return nil, rest.Refuse(http.StatusBadRequest, "QuotaLimitExceeds.DomainExtension", "The quota of %d domains is exceeded.", mostDomains)
	}
	id := v.State.id("de-bp1")
	v.State.Put(domains, rest.Object{"id": id, "DomainExtensionId": id, owner: lb.Text("id"), "listener": l.Text("id"), "Domain": v.text("Domain"), "ServerCertificateId": v.text("ServerCertificateId")})
	return answerDone(rest.Object{"DomainExtensionId": id, "ListenerPort": v.number("ListenerPort")}), nil
}

// ofDomain runs a write about one domain of a listener.
func ofDomain(run func(v *visit, domain rest.Object) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		d, ok := v.State.Get(domains, v.text("DomainExtensionId"))
		if !ok {
			return nil, refuseMissing("DomainExtensionId", v.text("DomainExtensionId"))
		}
		lb, err := v.balancer(d.Text(owner))
		if err != nil {
			return nil, err
		}
		return v.change(lb, "", func(v *visit, _ rest.Object) (any, error) { return run(v, d) })
	}
}

func setDomain(v *visit, d rest.Object) (any, error) {
	if _, ok := v.State.Get(certificates, v.text("ServerCertificateId")); !ok {
		return nil, refuseMissing("ServerCertificateId", v.text("ServerCertificateId"))
	}
	v.State.Change(domains, d.Text("id"), rest.Object{"ServerCertificateId": v.text("ServerCertificateId")})
	return answerDone(nil), nil
}

func deleteDomain(v *visit, d rest.Object) (any, error) {
	v.State.Drop(domains, d.Text("id"))
	return answerDone(nil), nil
}

// listAddresses answers the elastic IP addresses of an instance. Source: API of VPC,
// DescribeEipAddresses.
func listAddresses(v *visit) (any, error) {
	items, answer, err := v.page(v.State.All(addresses, func(o rest.Object) bool {
		return o.Text("InstanceType") == v.text("AssociatedInstanceType") && o.Text("InstanceId") == v.text("AssociatedInstanceId")
	}))
	return answerDone(answer).With(rest.Object{"EipAddresses": rest.Object{"EipAddress": items}}), err
}

func getVPC(v *visit) (any, error) {
	return answerDone(rest.Object{"VpcId": v.text("VpcId"), "CidrBlock": "192.168.0.0/16", "SecondaryCidrBlocks": rest.Object{"SecondaryCidrBlock": []any{}}, "Ipv6CidrBlock": "2408:4005::/32"}), nil
}

func listVSwitches(v *visit) (any, error) {
	items, answer, err := v.page(v.State.All(vswitches, func(o rest.Object) bool { return v.text("VSwitchId") == "" || o.Text("id") == v.text("VSwitchId") }))
	for i, o := range items {
		s, _ := rest.AsObject(o)
		items[i] = s.With(rest.Object{"VSwitchId": s.Text("id")}).Without("id")
	}
	return answerDone(answer).With(rest.Object{"VSwitches": rest.Object{"VSwitch": items}}), err
}

// addressesOf returns the addresses of a network interface.
func addressesOf(card rest.Object) []string {
	return append(card.Texts("addresses"), card.Texts("ipv6")...)
}

// mostAddresses is how many addresses a call takes. Source: API of ECS, DescribeNetworkInterfaces.
const mostAddresses = 100

// listInterfaces answers the network interfaces that have one of the addresses, in pages.
func listInterfaces(v *visit) (any, error) {
	asked := append(v.members("PrivateIpAddress"), v.members("Ipv6Address")...)
	if len(asked) > mostAddresses {
		return nil, refuseInvalid("PrivateIpAddress", "has %d addresses, and %d are possible", len(asked), mostAddresses)
	}
	found := v.State.All(interfaces, func(card rest.Object) bool {
		has := slices.ContainsFunc(addressesOf(card), func(a string) bool { return slices.Contains(asked, a) })
		return card.Text("VpcId") == v.text("VpcId") && (len(asked) == 0 || has)
	})
	size := max(v.number("MaxResults"), 1)
	from, _ := strconv.Atoi(v.text("NextToken"))
	items := []any{}
	for _, card := range found[min(from, len(found)):min(from+size, len(found))] {
		items = append(items, interfaceOf(card))
	}
	answer := answerDone(rest.Object{"NetworkInterfaceSets": rest.Object{"NetworkInterfaceSet": items}, "PageSize": size, "TotalCount": len(found)})
	if from+size < len(found) {
		answer["NextToken"] = strconv.Itoa(from + size)
	}
	return answer, nil
}

func interfaceOf(card rest.Object) rest.Object {
	private, public := []any{}, []any{}
	for _, a := range card.Texts("addresses") {
		private = append(private, rest.Object{"PrivateIpAddress": a})
	}
	for _, a := range card.Texts("ipv6") {
		public = append(public, rest.Object{"Ipv6Address": a})
	}
	return rest.Object{
		"NetworkInterfaceId": card.Text("id"), "InstanceId": card.Text("InstanceId"), "VpcId": card.Text("VpcId"), "Status": "InUse",
		"PrivateIpSets": rest.Object{"PrivateIpSet": private}, "Ipv6Sets": rest.Object{"Ipv6Set": public},
	}
}
