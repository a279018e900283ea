package azure

import (
	"net/http"
	"net/netip"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// gatewaySubnet holds the address that the gateway is reached at.
const gatewaySubnet = "gateway"

// gateway makes what AKS makes for load balancers of containers: the gateway
// under its fixed name, and a default for the pods' outbound traffic. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go, and
// pkg/provider/servicegateway/difftracker/resource_helpers.go there.
func (b *seeding) gateway() {
	b.ServiceGateway, b.NATGateway = "servicegateway", "default-natgw"
	id := b.id("Microsoft.Network/serviceGateways", b.ServiceGateway)
	b.put(id, arm.Doc{"sku": arm.Doc{"name": "Standard", "tier": "Regional"}, "properties": arm.Doc{
		"virtualNetwork": idRef(b.netID().String()), "routeTargetAddress": arm.Doc{"subnet": idRef(b.SubnetID(gatewaySubnet))},
	}})
	pip, nat := b.id("Microsoft.Network/publicIPAddresses", b.NATGateway+"-pip"), b.id("Microsoft.Network/natGateways", b.NATGateway)
	sku := func() arm.Doc { return arm.Doc{"name": "StandardV2"} }
	b.put(pip, arm.Doc{"sku": sku(), "properties": arm.Doc{"publicIPAllocationMethod": "Static"}})
	b.put(nat, arm.Doc{"sku": sku(), "properties": arm.Doc{"publicIpAddresses": []any{idRef(pip.String())}, "serviceGateway": idRef(id.String())}})
	b.attach(id)
	b.call(id, "updateServices", arm.Doc{"action": "PartialUpdate", "serviceRequests": []any{arm.Doc{"service": arm.Doc{
		"name": b.NATGateway, "properties": arm.Doc{"serviceType": "Outbound", "isDefault": true, "publicNatGatewayId": nat.String()},
	}}}})
}

// attach gives the subnet of the nodes its gateway.
func (b *seeding) attach(gateway arm.ID) {
	r := b.svc.State.Get(b.netID())
	if b.err != nil || r == nil {
		return
	}
	d := arm.Clone(r.Doc)
	arm.Put(arm.Collection{Property: "subnets"}.Part(d, b.Subnet), idRef(gateway.String()), "properties", "serviceGateway")
	b.put(b.netID(), d)
}

// call does a POST on a resource as a client would, and long ago: without the
// time that writes take.
func (b *seeding) call(id arm.ID, action string, body arm.Doc) {
	if b.err != nil {
		return
	}
	options := b.svc.Options
	defer func() { b.svc.Options = options }()
	b.svc.Latency, b.svc.LatencyOf = 0, nil
	query := map[string][]string{"api-version": {"2025-05-01"}}
	call := b.svc.Find(&arm.Request{Method: http.MethodPost, Path: id.String() + "/" + action, Query: query, Header: http.Header{}, Body: body, Now: b.now})
	if answer := call.Run(b.svc); answer.Status >= http.StatusBadRequest {
		b.err = arm.Failf(answer.Status, answer.Code, "%v", answer.Body)
	}
}

// pods gives the nodes ranges for pods, outside of the network as an overlay has
// them, and the first addresses in each.
func (b *seeding) pods(count int) {
	if count == 0 {
		return
	}
	for i := range b.Nodes {
		n, hi, lo := &b.Nodes[i], byte(i>>8), byte(i)
		ranges := []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 64 + hi, lo, 0}), 24)}
		if b.DualStack {
			ranges = append(ranges, netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfd, 0x98, 6: hi, 7: lo}), 64))
		}
		for _, r := range ranges {
			n.PodCIDRs = append(n.PodCIDRs, r.String())
			at := r.Addr().Next()
			for range count {
				at = at.Next()
				n.Pods = append(n.Pods, at.String())
			}
		}
	}
}
