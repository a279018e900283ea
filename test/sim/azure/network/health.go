package network

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// ruleHealth is the call that tells how the members behind a rule are.
// Source: Azure REST API reference, Load Balancer Load Balancing Rules - Health.
func ruleHealth() arm.Extra {
	return arm.Extra{
		Method:  http.MethodPost,
		Pattern: "/subscriptions/{s}/resourcegroups/{g}/providers/microsoft.network/loadbalancers/{n}/loadbalancingrules/{r}/health",
		Service: "network", Name: "LoadBalancerLoadBalancingRules.Health", Write: true, Run: tellHealth,
	}
}

func tellHealth(c *arm.Call) *arm.Response {
	rule := strings.TrimSuffix(strings.TrimRight(c.Path, "/"), "/"+c.Segment(10))
	part, balancer := c.Svc.State.Part(rule)
	if part == nil {
		return arm.Refuse(arm.Failf(http.StatusNotFound, "NotFound", "Resource %s not found.", rule))
	}
	c.ID = balancer.ID
	pool := arm.Text(part, "properties", "backendAddressPool", "id")
	return c.Ask(func() arm.Doc { return healthBehind(c.Svc.State, pool) })
}

// healthBehind judges the members of a pool by whether their machines run.
// Source: Azure documentation, manage Load Balancer health status (reason codes).
func healthBehind(s *arm.State, pool string) arm.Doc {
	up, down := 0, 0
	var list []any
	add := func(address, configuration string) {
		d := arm.Doc{"ipAddress": address, "state": "Up", "reason": "Up_Probe_Success"}
		if configuration != "" {
			d["networkInterfaceIPConfigurationId"] = configuration
		}
		if up++; !machineRuns(s, configuration) {
			d["state"], d["reason"] = "Down", "Down_Probe_HttpEndpointUnreachable"
			up, down = up-1, down+1
		}
		list = append(list, d)
	}
	for _, configuration := range nicMembers(s, pool) {
		part, _ := s.Part(configuration)
		add(arm.Text(part, "properties", "privateIPAddress"), configuration)
	}
	if part, _ := s.Part(pool); len(list) == 0 {
		for _, e := range arm.List(part, "properties", backendAddresses) {
			ip := arm.Text(e, "properties", "ipAddress")
			add(ip, addressUser(s, arm.Text(part, "properties", "virtualNetwork", "id"), ip))
		}
	}
	return arm.Doc{"up": up, "down": down, "loadBalancerBackendAddresses": list}
}

// addressUser is the IP configuration that has an address in a virtual network; empty if
// none has.
func addressUser(s *arm.State, network, ip string) string {
	r := s.Lookup(network)
	if r == nil {
		return ""
	}
	for _, subnet := range arm.List(r.Doc, "properties", "subnets") {
		if user := s.AddressUser(arm.Text(subnet, "id"), ip); user != "" {
			return user
		}
	}
	return ""
}

// machineRuns reports whether the machine of an IP configuration runs.
func machineRuns(s *arm.State, configuration string) bool {
	part, ok := arm.ParseID(configuration)
	if !ok {
		return false
	}
	machine := s.Get(part.Parent().Parent())
	for _, ref := range s.ReferredBy(part.Parent().String()) {
		if ref.Property == "networkInterfaces" {
			machine = s.Lookup(ref.From)
		}
	}
	if machine == nil {
		return false
	}
	power := arm.Text(machine.Doc, "_power")
	return power == "" || strings.HasSuffix(power, "/running")
}
