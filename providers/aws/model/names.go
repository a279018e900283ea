package model

import (
	"crypto/sha1" // #nosec G505 -- the names of existing target groups are made with it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

// Names, tags and descriptions identify existing load balancers, so every byte is that
// of the official controller.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/{aws_loadbalancer,aws,tags}.go.
const (
	TagServiceName   = "kubernetes.io/service-name"
	TagClusterPrefix = "kubernetes.io/cluster/"
	TagClusterLegacy = "KubernetesCluster"
	tagOwned         = "owned"
	tagPublicRole    = "kubernetes.io/role/elb"
	tagInternalRole  = "kubernetes.io/role/internal-elb"

	// tagOtherController is on everything that the AWS Load Balancer Controller
	// makes. Its groups can have the very names and descriptions of ours, because
	// both controllers hash the same words.
	// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/deploy/tracking/provider.go,
	// pkg/service/model_build_managed_sg.go.
	tagOtherController = "elbv2.k8s.aws/cluster"

	rulePrefix       = "kubernetes.io/rule/nlb/"
	RuleClientPrefix = rulePrefix + "client="
	RuleHealthPrefix = rulePrefix + "health="
	RuleMTU          = rulePrefix + "mtu"

	ManagedGroupDescription = "[k8s] Managed SecurityGroup for LoadBalancer"

	ProxyPolicyName     = "k8s-proxyprotocol-enabled"
	proxyPolicyType     = "ProxyProtocolPolicyType"
	proxyPolicyAttr     = "ProxyProtocol"
	SSLPolicyNamePrefix = "k8s-SSLNegotiationPolicy-"
	sslPolicyType       = "SSLNegotiationPolicyType"
	sslPolicyAttr       = "Reference-Security-Policy"

	SchemeInternal = "internal"
	schemePublic   = "internet-facing"

	// trafficPort is AWS's word for "check the port that gets the traffic".
	trafficPort = "traffic-port"

	maxNameLength  = 32
	shortNamePart  = 8
	shortHashPart  = 10
	ManagedNLBName = "nlb" // key name of the group that is made for a Network Load Balancer
)

// LoadBalancerName is the name of either kind of load balancer.
// Source: kubernetes/cloud-provider:cloud.go (DefaultLoadBalancerName).
func LoadBalancerName(uid string) string {
	name := "a" + strings.ReplaceAll(uid, "-", "")
	return name[:min(len(name), maxNameLength)]
}

// ServiceName is how tags and descriptions write a Service.
func ServiceName(o stack.Owner) string { return o.Namespace + "/" + o.Name }

// OwnGroupName is the name of a Classic Load Balancer's own security group.
func OwnGroupName(lbName string) string { return "k8s-elb-" + lbName }

// ownGroupDescription is that group's description, which AWS cannot change later.
func ownGroupDescription(lbName string, o stack.Owner) string {
	return fmt.Sprintf("Security group for Kubernetes ELB %s (%s)", lbName, ServiceName(o))
}

// ManagedGroupName is the name of a Network Load Balancer's own security group.
// The cluster is the one of --cluster-name, not the cluster id.
func ManagedGroupName(cluster string, o stack.Owner) string {
	sum := sha256.Sum256([]byte(cluster + o.Name + o.Namespace + o.UID))
	return shortNames(o) + hex.EncodeToString(sum[:])[:shortHashPart]
}

// TargetGroupPrefix begins the names of all target groups of a Service; Services
// of other clusters, or with similar names, may share it.
func TargetGroupPrefix(o stack.Owner) string { return shortNames(o) }

func shortNames(o stack.Owner) string { return NamespacePrefix(o) + keepAlnum(o.Name) + "-" }

// NamespacePrefix begins the names of all target groups of the Services of a namespace.
func NamespacePrefix(o stack.Owner) string { return "k8s-" + keepAlnum(o.Namespace) + "-" }

// keepAlnum keeps ASCII letters and digits, at most eight.
func keepAlnum(s string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
	return kept[:min(len(kept), shortNamePart)]
}

// TargetGroupName hashes everything that cannot change on a live target group,
// so that a replacement has another name than what it replaces. The Service
// port is part of it and the check's port and thresholds are not.
func TargetGroupName(cluster string, o stack.Owner, port int32, t TargetGroup) string {
	text := cluster + o.Namespace + o.Name + Decimal(port) + Decimal(t.Port) +
		t.Protocol + t.TargetType + t.CheckProtocol + Decimal(t.CheckInterval)
	sum := sha1.Sum([]byte(text)) // #nosec G401 -- a name, not a secret
	return TargetGroupPrefix(o) + hex.EncodeToString(sum[:])[:shortHashPart]
}

// sslPolicyName is the name of the policy made for a predefined one.
func sslPolicyName(predefined string) string { return SSLPolicyNamePrefix + predefined }

// ClientDescription marks the rules of a Network Load Balancer for its clients in the
// groups of the nodes; the mark names the load balancer.
func ClientDescription(lbName string) string { return RuleClientPrefix + lbName }

// HealthDescription marks those for its health checks in the same way.
func HealthDescription(lbName string) string { return RuleHealthPrefix + lbName }

// ClassicDescription marks the rules that admit, on the nodes, Classic Load Balancers of the
// cluster which send from a security group that the user named. Without it nothing would show
// whose such a rule is once the load balancer is deleted.
func ClassicDescription(cluster string) string { return "berth-lb.io/classic=" + shortHash(cluster) }

// PortKey names listeners, target groups and what hangs on them: "tcp-80" also
// for TLS, because TCP and TLS are states of one listener, and UDP is another.
func PortKey(protocol corev1.Protocol, port int32) string {
	return strings.ToLower(string(protocol)) + "-" + Decimal(port)
}

// PortSlot is the place of a listener on its load balancer.
func PortSlot(port int32) string { return "port " + Decimal(port) }

// portRange is how rule keys and ids write ports.
func portRange(p Permission) string { return Decimal(p.FromPort) + "-" + Decimal(p.ToPort) }

// NodeRuleKey names a rule in a group of the nodes by its content, so that all
// Services that want the same rule mean the same entry. A rule whose source is a
// group has the group's name there if it is one of ours, else the group's id.
func NodeRuleKey(group string, p Permission, sourceName string) stack.Key {
	source := p.CIDR
	if source == "" {
		source = sourceName
	}
	if source == "" {
		source = p.Source.ID
	}
	return stack.Key{Kind: KindNodeRule, Name: strings.Join([]string{group, p.Protocol, portRange(p), source}, "/")}
}

// NodeRuleID is the identifier of a rule as found: source is a range or a group id.
func NodeRuleID(group string, p Permission, source string) string {
	return strings.Join([]string{group, p.Protocol, portRange(p), source}, "/")
}

// PartID is the identifier of a part of a Classic Load Balancer: a path below its name. A
// part that it cannot be without has none of its own; what a plan writes there is the
// load balancer's, whether the part was read or not.
func PartID(lbName string, part stack.Kind, keyName string) string {
	switch part {
	case KindClassicPort, KindClassicPol:
		return strings.Join([]string{lbName, string(part), keyName}, "/")
	}
	return lbName
}

// Decimal is how names have a number.
func Decimal(n int32) string { return strconv.Itoa(int(n)) }
