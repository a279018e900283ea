package model

import (
	"slices"

	"github.com/berth-lb/berth/stack"
)

// outbound adds a rule of the nodes' security group for each address of the load balancer and each port that
// the Service names, and reports whether it names any. A rule that does the same without being the
// Service's suffices. Before there are addresses there are no rules.
// Source: ibm-cloud-docs/containers, vpc_alb.md (vpc-allow-outbound-traffic).
func (b *builder) outbound(addresses []string) bool {
	ports := outboundKey.Get(b.in.Values)
	if len(ports) == 0 {
		return false
	}
	name := WorkerGroup(b.in.Config.ClusterID)
	at := slices.IndexFunc(b.facts.Groups, func(g SecurityGroup) bool { return g.Name == name && g.VPC == b.in.Config.VPC })
	if at < 0 {
		b.problems = append(b.problems, outboundKey.Refusal(b.in.Values, "needs the security group "+name+" in the VPC "+b.in.Config.VPC+", which does not exist", "no value, unless IBM manages the cluster"))
		return true
	}
	for _, address := range addresses {
		for _, port := range ports {
			rule := Rule{Group: b.facts.Groups[at].ID, Address: address, Port: port}
			if !slices.Contains(b.facts.Outbound, rule) {
				b.out.Put(stack.Resource{Key: ruleKey(port, address), Spec: rule})
			}
		}
	}
	return true
}
