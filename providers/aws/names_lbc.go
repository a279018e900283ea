package aws

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Names and tags of the AWS Load Balancer Controller, byte by byte, so that what it
// made is found and what is made here is found by it. Sources:
// kubernetes-sigs/aws-load-balancer-controller:pkg/deploy/tracking/provider.go,
// pkg/service/model_build_{load_balancer,target_group,managed_sg}.go,
// pkg/networking/backend_sg_provider.go.
const (
	tagLBCCluster  = tagOtherController
	tagLBCStack    = "service.k8s.aws/stack"
	tagLBCResource = "service.k8s.aws/resource"
	tagLBCShared   = "elbv2.k8s.aws/resource"

	resourceBalancer = "LoadBalancer"
	resourceGroup    = "ManagedLBSecurityGroup"
	resourceShared   = "backend-sg"

	sharedGroupPrefix      = "k8s-traffic-"
	sharedGroupDescription = "[k8s] Shared Backend SecurityGroup for LoadBalancer"
	sharedClusterLength    = 232

	// lbcRuleDescription marks the rules of the AWS Load Balancer Controller in the
	// groups of nodes and pods; it takes away all that carry it and that it does not
	// want. ownRuleDescription marks ours there, which it leaves alone.
	lbcRuleDescription = "elbv2.k8s.aws/targetGroupBinding=shared"
	ownRuleDescription = "berth-lb.io/targets"

	classLBC     = "service.k8s.aws/nlb"
	finalizerLBC = "service.k8s.aws/resources"
)

// ofBalancer tells whether the description of a rule in a group of the nodes says that a
// load balancer's controller has made it.
func ofBalancer(description string) bool {
	return strings.HasPrefix(description, rulePrefix) || description == ownRuleDescription
}

func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(sum[:])[:shortHashPart]
}

// lbcName is the name of a load balancer that has none by annotation.
func lbcName(cluster string, o stack.Owner, scheme string) string {
	return shortNames(o) + hashed(cluster, o.UID, scheme)
}

// lbcTargetGroupName hashes what makes AWS Load Balancer Controller take another
// group; the Service's name is part of the readable half only.
func lbcTargetGroupName(cluster string, o stack.Owner, port int32, t TargetGroup) string {
	return shortNames(o) + hashed(cluster, o.UID, decimal(t.Port), decimal(port), t.TargetType, t.Protocol, t.CheckProtocol, decimal(t.CheckInterval))
}

// sharedGroupName is the name of the group that all load balancers of the kind send
// from, one for each cluster and VPC.
func sharedGroupName(cluster string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, cluster)
	return sharedGroupPrefix + kept[:min(len(kept), sharedClusterLength)] + "-" + hashed(cluster)
}

// lbcTags are the user's tags and over them those by which a thing is found.
func lbcTags(cluster string, o stack.Owner, resource string, extra map[string]string) Tags {
	return over(extra, Tags{tagLBCCluster: cluster, tagLBCStack: serviceName(o), tagLBCResource: resource})
}

func sharedGroupTags(cluster string, extra map[string]string) Tags {
	return over(extra, Tags{tagLBCCluster: cluster, tagLBCShared: resourceShared})
}

// lbcMarks tells whether tags name the Service of the cluster.
func lbcMarks(cluster string, o stack.Owner, tags Tags) bool {
	return tags[tagLBCCluster] == cluster && tags[tagLBCStack] == serviceName(o)
}

func sharedGroupKey(cluster string) stack.Key {
	return stack.Key{Kind: KindSharedGroup, Name: sharedGroupName(cluster)}
}
