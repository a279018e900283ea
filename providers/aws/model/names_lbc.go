package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Names and tags of the AWS Load Balancer Controller, byte by byte, so that each
// controller finds the resources of the other. Sources:
// kubernetes-sigs/aws-load-balancer-controller:pkg/deploy/tracking/provider.go,
// pkg/service/model_build_{load_balancer,target_group,managed_sg}.go,
// pkg/networking/backend_sg_provider.go.
const (
	TagLBCCluster  = tagOtherController
	TagLBCStack    = "service.k8s.aws/stack"
	TagLBCResource = "service.k8s.aws/resource"
	TagLBCShared   = "elbv2.k8s.aws/resource"

	resourceBalancer = "LoadBalancer"
	resourceGroup    = "ManagedLBSecurityGroup"
	ResourceShared   = "backend-sg"

	sharedGroupPrefix      = "k8s-traffic-"
	sharedGroupDescription = "[k8s] Shared Backend SecurityGroup for LoadBalancer"
	sharedClusterLength    = 232

	// LBCRuleDescription marks the rules of the AWS Load Balancer Controller in the groups
	// of nodes and pods. It deletes every rule that carries the mark and that it does not
	// want. OwnRuleDescription marks ours in these groups, which it leaves alone.
	LBCRuleDescription = "elbv2.k8s.aws/targetGroupBinding=shared"
	OwnRuleDescription = "berth-lb.io/targets"

	classLBC     = "service.k8s.aws/nlb"
	finalizerLBC = "service.k8s.aws/resources"
)

// OfBalancer reports whether the description of a rule in a group of the nodes marks it
// as created by a load balancer's controller.
func OfBalancer(description string) bool {
	return strings.HasPrefix(description, rulePrefix) || description == OwnRuleDescription
}

func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(sum[:])[:shortHashPart]
}

// lbcName is the name of a load balancer that has none by annotation.
func lbcName(cluster string, o stack.Owner, scheme string) string {
	return shortNames(o) + shortHash(cluster, o.UID, scheme)
}

// lbcTargetGroupName hashes what makes AWS Load Balancer Controller take another
// group; the Service's name is part of the readable half only.
func lbcTargetGroupName(cluster string, o stack.Owner, port int32, t TargetGroup) string {
	return shortNames(o) + shortHash(cluster, o.UID, Decimal(t.Port), Decimal(port), t.TargetType, t.Protocol, t.CheckProtocol, Decimal(t.CheckInterval))
}

// SharedGroupName is the name of the group that all load balancers of the kind send
// from, one for each cluster and VPC.
func SharedGroupName(cluster string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, cluster)
	return sharedGroupPrefix + kept[:min(len(kept), sharedClusterLength)] + "-" + shortHash(cluster)
}

// lbcTags are the user's tags and over them those by which a thing is found.
func lbcTags(cluster string, o stack.Owner, resource string, extra map[string]string) Tags {
	return Over(extra, Tags{TagLBCCluster: cluster, TagLBCStack: ServiceName(o), TagLBCResource: resource})
}

func sharedGroupTags(cluster string, extra map[string]string) Tags {
	return Over(extra, Tags{TagLBCCluster: cluster, TagLBCShared: ResourceShared})
}

// LBCMarks reports whether tags name the Service of the cluster.
func LBCMarks(cluster string, o stack.Owner, tags Tags) bool {
	return tags[TagLBCCluster] == cluster && tags[TagLBCStack] == ServiceName(o)
}

func sharedGroupKey(cluster string) stack.Key {
	return stack.Key{Kind: KindSharedGroup, Name: SharedGroupName(cluster)}
}
