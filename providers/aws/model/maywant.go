package model

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Node ports are unique in the cluster, so a rule for one is one Service's.
// Source: kubernetes/kubernetes, flag --service-node-port-range of the API server.
const (
	firstNodePort int32 = 30000
	lastNodePort  int32 = 32767
)

// mayWant reports whether a Service that cannot be built might want a rule in a group of
// the nodes. It errs on yes, except where the rule can only be that of another Service:
// a node port is never shared, and neither is an own group.
func mayWant(id identity, entry stack.Resource) bool {
	switch entry.Key.Kind {
	case KindSharedNetwork:
		return isMember(id, entry)
	case KindSharedGroup, KindFrontGroup, KindFrontRule:
		return id.Config.Controller.Serve
	}
	rule, ok := entry.Spec.(NodeRule)
	if !ok || id.Config.DisableNodeRules {
		return false
	}
	if rule.Description == OwnRuleDescription {
		return id.Config.Controller.Serve
	}
	return mayWantRule(id, entry.Key, rule)
}

// mayWantRule is mayWant for a rule in a group of the nodes.
func mayWantRule(id identity, key stack.Key, rule NodeRule) bool {
	lb := LoadBalancerName(id.Owner.UID)
	if strings.HasSuffix(rule.Description, "="+lb) || strings.HasSuffix(key.Name, "/"+OwnGroupName(lb)) {
		return true
	}
	if rule.CIDR == "" {
		// Another Service's own group; groups of users can stand on many load balancers.
		return rule.Source.ID != ""
	}
	if rule.Protocol != "tcp" && rule.Protocol != "udp" {
		return true
	}
	oneNodePort := rule.FromPort == rule.ToPort && rule.FromPort >= firstNodePort && rule.FromPort <= lastNodePort
	return !oneNodePort || rule.FromPort == id.Config.Probe.Port
}

// isMember reports whether a Service has a part of the load balancer of a group, as
// found. A Service without one misses nothing when it is deleted.
func isMember(id identity, lb stack.Resource) bool {
	spec, _ := lb.Spec.(Network)
	return slices.ContainsFunc(spec.Members, func(m GroupMember) bool { return m.Service == ServiceName(id.Owner) })
}
