package openstack

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// createBalancer creates a load balancer, with all objects that the request has below it.
func createBalancer(v *visit) (any, error) {
	wish := v.Body.Object("loadbalancer")
	if err := v.checkBalancer(wish); err != nil {
		return nil, err
	}
	if n := v.cloud.opt.Limits.LoadBalancers; n > 0 && len(v.State.All(balancers, nil)) >= n {
		return nil, quotaMet("LoadBalancer")
	}
	id := v.State.id(balancers)
	lb := Object{
		"id": id, "name": wish.Text("name"), "description": wish.Text("description"), "admin_state_up": true, "project_id": v.cloud.projectID(),
		"tenant_id": v.cloud.projectID(), provisioning: pendingCreate, operating: offline, "created_at": formatTime(v.Time), "updated_at": nil,
		"provider": wish.Text("provider"), "flavor_id": wish["flavor_id"], "availability_zone": wish["availability_zone"], "tags": rest.Anys(wish.Texts("tags")),
		"vip_qos_policy_id": wish["vip_qos_policy_id"], "additional_vips": []any{},
	}
	if v.cloud.opt.Version >= vnicVersion {
		lb["vip_vnic_type"], lb["vip_sg_ids"] = "normal", []any{}
	}
	if lb.Text("provider") == "" {
		lb["provider"] = v.cloud.opt.Providers[0]
	}
	if err := v.placeVIP(lb, wish); err != nil {
		return nil, err
	}
	v.State.Put(balancers, lb)
	if err := v.createGraph(lb, wish); err != nil {
		return nil, err
	}
	v.touch(id, pendingCreate)
	lb, _ = v.State.Get(balancers, id)
	return Object{"loadbalancer": showGraph(v.State, lb)}, nil
}

// vnicVersion is the minor version from which on answers tell of the port's sort and
// groups. Source: Octavia release notes.
const vnicVersion = 29

func quotaMet(what string) *rest.Error {
	return rest.Refuse(http.StatusForbidden, "QuotaException", "Quota has been met for resources: %s", what)
}

// showQuota returns the quotas of the project, which its members may read; -1 means no limit.
// Source: Octavia API reference, quotas, and its default policies (load-balancer:read-quota).
func showQuota(v *visit) (any, error) {
	if id := v.Params["id"]; id != v.cloud.projectID() {
		return nil, rest.Refuse(http.StatusForbidden, "PolicyForbidden", "Policy does not allow this request to be performed.")
	}
	limit := func(n int) float64 {
		if n == 0 {
			return -1
		}
		return float64(n)
	}
	l := v.cloud.opt.Limits
	return Object{"quota": Object{
		"loadbalancer": limit(l.LoadBalancers), "listener": limit(l.Listeners), "pool": limit(l.Pools), "member": limit(l.Members),
		"healthmonitor": float64(-1), "l7policy": float64(-1), "l7rule": float64(-1),
	}}, nil
}

// checkName bounds a name. Source: Octavia API reference.
func checkName(o Object) error {
	if len(o.Text("name")) > 255 {
		return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute name. Value should have a maximum character requirement of 255")
	}
	return nil
}

func (v *visit) checkBalancer(wish Object) error {
	if err := checkName(wish); err != nil {
		return err
	}
	if p := wish.Text("provider"); p != "" && !slices.Contains(v.cloud.opt.Providers, p) {
		return rest.Refuse(http.StatusBadRequest, "ProviderNotEnabledError", "Provider '%s' is not enabled.", p)
	}
	if f := wish.Text("flavor_id"); f != "" {
		if _, ok := v.State.Get(flavors, f); !ok {
			return validationFailure("Invalid flavor_id.")
		}
	}
	if z := wish.Text("availability_zone"); z != "" && len(v.State.Having(zones, "name", z)) == 0 {
		return validationFailure("Invalid availability zone.")
	}
	if wish.Text("vip_port_id") == "" && wish.Text("vip_network_id") == "" && wish.Text("vip_subnet_id") == "" {
		return validationFailure("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.")
	}
	return nil
}

// placeVIP finds or makes the port of the address of a load balancer.
func (v *visit) placeVIP(lb, wish Object) error {
	if id := wish.Text("vip_port_id"); id != "" {
		port, ok := v.State.Get(ports, id)
		if !ok {
			return rest.Refuse(http.StatusBadRequest, "InvalidSubresource", "Port %s not found.", id)
		}
		if port.Text("device_id") != "" {
			return validationFailure("Port %s is already used by device %s ", id, port.Text("device_id"))
		}
		fixed := port.Objects("fixed_ips")[0]
		lb["vip_port_id"], lb["vip_address"] = id, fixed["ip_address"]
		lb["vip_subnet_id"], lb["vip_network_id"] = fixed["subnet_id"], port["network_id"]
		return nil
	}
	subnet, err := v.vipSubnet(wish)
	if err != nil {
		return err
	}
	address := wish.Text("vip_address")
	if address == "" {
		if address, err = v.freeAddress(subnet); err != nil {
			return err
		}
	} else if err := v.takes(subnet, address); err != nil {
		err.Text = fmt.Sprintf("Error creating neutron port on network %s due to %s\nNeutron server returns request_ids: ['req-%s'].", subnet.Text("network_id"), err.Text, idOf("request"))
		return err
	}
	port := v.makePort(subnet, address, Object{"name": "octavia-lb-" + lb.Text("id"), "device_id": "lb-" + lb.Text("id"), "device_owner": "Octavia", "admin_state_up": false, "security_groups": []any{idOf("default")}})
	lb["vip_port_id"], lb["vip_address"] = port["id"], address
	lb["vip_subnet_id"], lb["vip_network_id"] = subnet["id"], subnet["network_id"]
	return nil
}

// vipSubnet is the subnet that a request names, or the first of the network: one of
// IPv4 before one of IPv6. Source: Octavia, api/v2/controllers/load_balancer.py.
func (v *visit) vipSubnet(wish Object) (Object, error) {
	if id := wish.Text("vip_subnet_id"); id != "" {
		subnet, ok := v.State.Get(subnets, id)
		if network := wish.Text("vip_network_id"); !ok || network != "" && network != subnet.Text("network_id") {
			return nil, rest.Refuse(http.StatusBadRequest, "InvalidSubresource", "Subnet %s not found.", id)
		}
		return subnet, nil
	}
	id := wish.Text("vip_network_id")
	if _, ok := v.State.Get(networks, id); !ok {
		return nil, rest.Refuse(http.StatusBadRequest, "InvalidSubresource", "Network %s not found.", id)
	}
	all := v.State.Having(subnets, "network_id", id)
	slices.SortStableFunc(all, func(a, b Object) int {
		x, _ := a.Number("ip_version")
		y, _ := b.Number("ip_version")
		return x - y
	})
	if len(all) == 0 {
		return nil, validationFailure("Supplied network does not contain a subnet.")
	}
	return all[0], nil
}

// createGraph makes what a request has below the load balancer.
func (v *visit) createGraph(lb, wish Object) error {
	named := map[string]string{}
	for _, p := range wish.Objects("pools") {
		id, err := v.graphPool(lb, p, named)
		if err != nil {
			return err
		}
		named[p.Text("name")] = id
	}
	for _, l := range wish.Objects("listeners") {
		l = l.With(nil)
		if p := l.Object("default_pool"); p != nil {
			id, known := named[p.Text("name")]
			switch {
			case known && len(p) > 1:
				return validationFailure("Pool names must be unique in one request: %s", p.Text("name"))
			case !known:
				var err error
				if id, err = v.graphPool(lb, p, named); err != nil {
					return err
				}
			}
			named[p.Text("name")] = id
			l["default_pool_id"] = id
			delete(l, "default_pool")
		}
		made, err := v.addListener(lb, l)
		if err != nil {
			return err
		}
		if made.Text("default_pool_id") != "" {
			v.State.Change(listeners, made.Text("id"), Object{"updated_at": formatTime(v.Time)})
		}
	}
	return nil
}

func (v *visit) graphPool(lb, p Object, named map[string]string) (string, error) {
	name := p.Text("name")
	if _, twice := named[name]; twice || name == "" {
		return "", validationFailure("Pools must be named when creating a fully populated loadbalancer.")
	}
	pool, err := v.addPool(lb, p)
	if err != nil {
		return "", err
	}
	if m := p.Object("healthmonitor"); m != nil {
		if _, err := v.addMonitor(pool, m); err != nil {
			return "", err
		}
		pool, _ = v.State.Get(pools, pool.Text("id"))
	}
	for _, m := range p.Objects("members") {
		if _, err := v.addMember(pool, m); err != nil {
			return "", err
		}
	}
	return pool.Text("id"), nil
}

// showGraph returns the response to a creation: listeners, pools and members in full, where a
// read only names ids. Health checks are created but not shown. Source: a real Octavia.
func showGraph(s *state, lb Object) Object {
	out := showBalancer(s, lb)
	below, free := []any{}, []any{}
	for _, l := range s.Having(listeners, "loadbalancer", lb.Text("id")) {
		shown := showListener(s, l)
		delete(shown, "loadbalancers")
		below = append(below, shown)
	}
	for _, p := range s.Having(pools, "loadbalancer", lb.Text("id")) {
		free = append(free, poolGraph(s, p))
	}
	out["listeners"], out["pools"] = below, free
	return out
}

func poolGraph(s *state, p Object) Object {
	out := showPool(s, p)
	inner := []any{}
	for _, m := range s.Having(members, "pool", p.Text("id")) {
		inner = append(inner, showMember(s, m))
	}
	out["members"], out["healthmonitor"] = inner, nil
	delete(out, "healthmonitor_id")
	delete(out, "loadbalancers")
	return out
}

// ipFamily returns 4 or 6.
func ipFamily(address string) int {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		return 6
	}
	return 4
}
