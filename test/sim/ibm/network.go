package ibm

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// profile is the family of a load balancer and what it may have.
// Sources: VPC API reference, LoadBalancerProfile; ibm-cloud-docs/vpc, nlb-limitations.md.
type profile struct {
	name    string
	network bool
	path    bool // a private path
}

// The profiles. A load balancer that asks for none is an application load balancer.
func profileNamed(name string) (profile, bool) {
	for _, p := range []profile{{"dynamic", false, false}, {"network-fixed", true, false}, {"network-private-path", true, true}} {
		if p.name == name || name == "" {
			return p, true
		}
	}
	return profile{}, false
}

// profileOf returns the profile of an existing load balancer.
func profileOf(lb rest.Object) profile {
	p, _ := profileNamed(lb.Object("profile").Text("name")) // checked at creation
	return p
}

// profile returns the profile of the load balancer of the body, which has to fit the rest.
func (v *visit) profile() (profile, error) {
	name := v.Body.Object("profile").Text("name")
	p, ok := profileNamed(name)
	if !ok {
		return p, refuseMissing("load_balancer_profile", name)
	}
	if p.path && v.Body.Truth("is_public") {
		return p, refuseInvalid("is_public", "a private path load balancer is private")
	}
	same := v.State.All(balancers, func(o rest.Object) bool { return profileOf(o).network == p.network })
	if most := v.cloud.opt.Limits.LoadBalancers; len(same) >= most {
		return p, overQuota("load balancers of the family "+p.family(), most)
	}
	return p, nil
}

func (p profile) family() string {
	if p.network {
		return "network"
	}
	return "application"
}

func (v *visit) showProfile(p profile) rest.Object {
	return rest.Object{"name": p.name, "family": p.family(), "href": v.href("load_balancer", "profiles", p.name)}
}

// traitsOf returns what follows from the profile of a load balancer.
func traitsOf(p profile) rest.Object {
	access, availability := "public", "region"
	if p.network {
		availability = "subnet"
	}
	if p.path {
		access, availability = "private_path", "region"
	}
	return rest.Object{
		"resource_type": "load_balancer", "route_mode": false, "access_mode": access, "availability": availability, "udp_supported": p.network && !p.path,
		"security_groups_supported": !p.path, "instance_groups_supported": !p.path, "source_ip_session_persistence_supported": !p.path,
		"attached_load_balancer_pool_members": []any{}, "logging": rest.Object{"datapath": rest.Object{"active": false}},
		"advanced_health_checks_supported": !p.network, "asymmetric_routing_supported": false, "fqdn_pool_members_supported": false,
		"failsafe_policy_actions": []any{"fail"}, "mtls_supported": false,
	}
}

// online returns a load balancer whose change has ended. A network load balancer gets its
// addresses then.
func (s *state) online(lb rest.Object) rest.Object {
	lb = lb.With(rest.Object{provisioning: active, operating: "online"})
	if len(lb.Objects("private_ips")) == 0 {
		lb = withAddresses(lb)
	}
	return lb
}

// withAddresses returns a load balancer with an address in each subnet, and public ones if it
// is public.
func withAddresses(lb rest.Object) rest.Object {
	at, _ := lb.Number(placed)
	n := len(lb.Objects("subnets"))
	more := rest.Object{}
	var ips []any
	for i := range max(n, 1) {
		address := fmt.Sprintf("10.240.%d.%d", 128+at/250%128, (at+i)%250+1)
		id := idOf("reserved ip " + address)
		ips = append(ips, rest.Object{"address": address, "id": id, "name": "ip-" + id[5:13], "resource_type": "subnet_reserved_ip", "href": "https://ibm.invalid/reserved_ips/" + id})
	}
	more["private_ips"] = ips
	if lb.Truth("is_public") {
		var public []any
		for i := range max(n, 1) {
			public = append(public, rest.Object{"address": fmt.Sprintf("158.177.%d.%d", 128+at/250%128, (at+i)%250+1)})
		}
		more["public_ips"] = public
	}
	return lb.With(more)
}

// subnetsOf checks the subnets of a load balancer, which are of one VPC.
func (v *visit) subnetsOf(asked []rest.Object, p profile) ([]any, error) {
	most := v.cloud.opt.Limits.Subnets
	if p.network && !p.path {
		most = 1
	}
	if len(asked) == 0 || len(asked) > most {
		return nil, refuseInvalid("subnets", "has %d subnets, and 1 to %d are possible", len(asked), most)
	}
	var out []any
	vpc := ""
	for _, o := range asked {
		s, ok := v.State.Get(subnets, o.Text("id"))
		if !ok {
			return nil, refuseMissing("subnet", o.Text("id"))
		}
		if in := s.Object("vpc").Text("id"); vpc != "" && in != vpc {
			return nil, refuseInvalid("subnets", "are of several VPCs")
		}
		vpc = s.Object("vpc").Text("id")
		out = append(out, s.Only("id", "name", "href", "crn", "resource_type"))
	}
	return out, nil
}

// checkPorts refuses what listeners and pools of a profile cannot have.
// Sources: ibm-cloud-docs/vpc, nlb-port-range.md, nlb-limitations.md; VPC API reference.
func (p profile) checkPorts(lb, l rest.Object) error {
	low, _ := l.Number("port_min")
	high, _ := l.Number("port_max")
	switch {
	case low != high && (!p.network || !p.path && !lb.Truth("is_public")):
		return refuseInvalid("port_min", "ranges of ports are for public network load balancers and private paths")
	case p.network && (l["connection_limit"] != nil || l["idle_connection_timeout"] != nil):
		return refuseInvalid("connection_limit", "a network load balancer has no limits of connections")
	}
	return p.checkProtocol(l.Text("protocol"))
}

func (p profile) checkProtocol(protocol string) error {
	legal := []string{"tcp", "http", "https"}
	switch {
	case p.path:
		legal = []string{"tcp"}
	case p.network:
		legal = []string{"tcp", "udp"}
	}
	if !slices.Contains(legal, protocol) {
		return refuseInvalid("protocol", "%q is not one of %v", protocol, legal)
	}
	return nil
}

// checkPool refuses what a pool of a profile cannot have.
func (p profile) checkPool(pool rest.Object) error {
	switch {
	case p.network && pool.Text("proxy_protocol") != "disabled":
		return refuseInvalid("proxy_protocol", "a network load balancer does not speak it")
	case p.network && pool.Object("health_monitor").Text("type") == "https":
		return refuseInvalid("health_monitor.type", "https is for application load balancers")
	case p.path && pool.Text("algorithm") == "least_connections":
		return refuseInvalid("algorithm", "least_connections is not possible for a private path")
	}
	return p.checkProtocol(pool.Text("protocol"))
}

// accountHeader names the account of instances that are members.
// Source: IBM Cloud Kubernetes Service, network load balancers of worker nodes in the service account.
const accountHeader = "X-Instance-Account-Id"

// instance returns the instance that a member of a network load balancer is.
func (v *visit) instance(target rest.Object) (rest.Object, error) {
	i, ok := v.State.Get(instances, target.Text("id"))
	if !ok || v.HTTP.Header.Get(accountHeader) != accountID {
		return nil, rest.Refuse(http.StatusBadRequest, "instance_not_found", "The instance with ID %s could not be found in the account", target.Text("id"))
	}
	return i.Only("id", "name", "crn", "href", "resource_type"), nil
}
