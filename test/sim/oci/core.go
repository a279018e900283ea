package oci

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// coreRoutes are those of the Core Services. Source: API reference, version 20160918.
func coreRoutes() []route {
	show := func(name, path, table, what string) route {
		return rest.Reads(apiCore, name, pathCore+path+"/{id}", readObject(table, what, asIs))
	}
	return []route{
		show("GetVcn", "vcns", vcns, "VCN"),
		show("GetSubnet", "subnets", subnets, "subnet"),
		show("GetSecurityList", "securityLists", lists, "security list"),
		show("GetVnic", "vnics", vnics, "VNIC"),
		show("GetInstance", "instances", instances, "instance"),
		show("GetPublicIp", "publicIps", publicIPs, "public IP"),
		show("GetPrivateIp", "privateIps", privateIPs, "private IP"),
		show("GetIpv6", "ipv6", ipv6s, "IPv6"),
		rest.Reads(apiCore, "ListSubnets", pathCore+"subnets", listOf(subnets, asIs, false, "vcnId", "displayName", lifecycle)),
		rest.Reads(apiCore, "ListInstances", pathCore+"instances", listOf(instances, asIs, false, "availabilityDomain", "displayName", lifecycle)),
		rest.Reads(apiCore, "ListVnicAttachments", pathCore+"vnicAttachments", listOf(attachments, asIs, false, "availabilityDomain", "instanceId", "vnicId")),
		rest.Reads(apiCore, "ListPrivateIps", pathCore+"privateIps", addressesOf(privateIPs)),
		rest.Reads(apiCore, "ListIpv6s", pathCore+"ipv6", addressesOf(ipv6s)),
		// It reads, though it is a POST.
		{API: apiCore, Name: "GetPublicIpByIpAddress", Method: http.MethodPost, Path: pathCore + "publicIps/actions/getByIpAddress", Status: http.StatusOK, Run: publicByAddress},
	}
}

// publicByAddress finds a public IP. Those of load balancers that are not reserved are
// Oracle's, and are not found. Source: API reference, GetPublicIpByIpAddress.
func publicByAddress(v *visit) (any, error) {
	body, err := schema{"ipAddress": textProp().must()}.read("", v.Body)
	if err != nil {
		return nil, err
	}
	for _, o := range v.State.All(publicIPs, rest.Where("ipAddress", body.Text("ipAddress"))) {
		return v.shown(o), nil
	}
	return nil, notFound("public IP", body.Text("ipAddress"))
}

// addressesOf lists the addresses of a subnet or of a VNIC, or one given address.
// Source: API reference, ListPrivateIps and ListIpv6s: a subnet or a VNIC must be given.
func addressesOf(table string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		query := v.HTTP.URL.Query()
		if query.Get("subnetId") == "" && query.Get("vnicId") == "" {
			return nil, missingParam("subnetId or vnicId")
		}
		all := v.State.All(table, func(o rest.Object) bool {
			for _, name := range []string{"subnetId", "vnicId", "ipAddress"} {
				if query.Has(name) && query.Get(name) != o.Text(name) {
					return false
				}
			}
			return true
		})
		return v.page(all, asIs, false)
	}
}
