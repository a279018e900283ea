package model

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-lb/berth/annotations"
)

// Where the keys are read: the open controller, and the documentation of the controller of
// IBM's managed clusters.
const (
	source        = "IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go"
	sourceManaged = "https://cloud.ibm.com/docs/containers?topic=containers-vpclb_manage"
)

// Headings of the reference page.
const (
	groupKind    = "Kind and place"
	groupTraffic = "Listeners and pools"
	groupHealth  = "Health checks"
	groupGuard   = "Security groups and DNS"
	groupClassic = "Classic infrastructure"
	groupObjects = "On other objects"
)

const prefix = "service.kubernetes.io/ibm-load-balancer-cloud-provider-"

// Annotations is the set of all keys that the official controllers read.
func Annotations() *annotations.Set {
	set, _ := collectKeys() // a set at fault reports it on every Service
	return set
}

func collectKeys() (*annotations.Set, error) {
	return annotations.Collect("ibm", []string{prefix, "service.kubernetes.io/ibm-"}, []annotations.Check{checkHealth},
		placeKeys(), trafficKeys(), healthKeys(), laterKeys(), classicKeys(), objectKeys())
}

// Values of the keys of kind and place.
const (
	public  = "public"
	private = "private"

	featureProxy   = "proxy-protocol"
	featureALB     = "alb"
	featureNLB     = "nlb"
	featurePrivate = "private-path"
	featureClassic = "ipvs"
)

// Keys of the kind and the place.
var (
	ipTypeKey = &annotations.Key[string]{
		Name: prefix + "ip-type", Group: groupKind, Example: private, Exposes: annotations.ToInternet,
		Doc: "Public load balancers are reached by clients of the Internet, private ones by clients of the network.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Enum(public, private), Default: public, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: source,
			Doc: "The official controller takes any other value for private. A live load balancer cannot change: create a second Service, move the clients to it, and delete the first.",
		}},
	}
	featuresKey = &annotations.Key[[]string]{
		Name: prefix + "enable-features", Names: annotations.NamesNothing(), Group: groupKind, Example: featureProxy,
		Doc: "Chooses the kind of load balancer and its options.",
		Forms: []annotations.Form[[]string]{{
			Type:       annotations.Custom("list of features", "proxy-protocol and alb, separated by commas", parseFeatures),
			DefaultDoc: "an application load balancer without options", Change: annotations.InPlace, Source: source,
			Doc: "proxy-protocol sends members the address of the client by version 1 of the PROXY protocol. Network load balancers (nlb, private-path) and classic ones (ipvs) are not served.",
		}},
	}
	zoneKey = &annotations.Key[string]{
		Name: prefix + "zone", Names: annotations.NamesThe(annotations.ThingZone), Group: groupKind, Example: "eu-de-1",
		Doc: "Restricts the load balancer to the subnets of the cluster, and the members to the nodes, of one zone.",
		Forms: []annotations.Form[string]{{
			Type: annotations.String().Legally("the name of a zone"), DefaultDoc: "all zones", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: "vpc-subnets decides on the subnets where both are set, and vpc-node-selector on the nodes.",
		}},
	}
	subnetsKey = &annotations.Key[[]string]{
		Name: prefix + "vpc-subnets", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupKind, Example: "0717-3a7b6c1d-5b0c-4c66-8e5c-9a61b3a1c1d2",
		Doc: "Subnets of the load balancer, each by its id, name or IPv4 range.",
		Forms: []annotations.Form[[]string]{{
			Type: annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: mostSubnets}, annotations.String().Legally("the id, name or IPv4 range of a subnet of the VPC")),
			Or:   []string{"g2VpcSubnetNames"}, Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: "Without the key a live load balancer keeps its subnets.",
		}},
	}
	nameKey = &annotations.Key[string]{
		Name: prefix + "vpc-lb-name", Names: annotations.NamesThe(annotations.ThingLoadBalancer), Group: groupKind, Example: "shop-web", OnDelete: true,
		Doc: "Name of the load balancer.",
		Forms: []annotations.Form[string]{{
			Type:       annotations.Custom("name", "lower-case letters, digits and dashes, at most 63, beginning with a letter", parseName),
			DefaultDoc: "kube-<clusterID>-<UID>, and berth-<clusterID>-<UID> for a Service with a class", Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: source,
			Doc: "A load balancer of this name is the Service's only if all of its pools are.",
		}},
	}
	nodeSelectorKey = &annotations.Key[Selector]{
		Name: prefix + "vpc-node-selector", Names: annotations.NamesNothing(), Group: groupKind, Example: "ibm-cloud.kubernetes.io/worker-pool-name=edge",
		Doc: "Selects the nodes that are members by one label, in place of the zone and of edge nodes.",
		Forms: []annotations.Form[Selector]{{
			Type: annotations.Custom("label", "one label and its value: key=value", parseSelector), DefaultDoc: "all nodes", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: "The open controller ignores labels outside of a fixed list; here any label counts.",
		}},
	}
)

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{ipTypeKey, featuresKey, zoneKey, subnetsKey, nameKey, nodeSelectorKey}
}

// Selector is a label of nodes.
type Selector struct{ Key, Value string }

func parseSelector(raw string) (Selector, error) {
	key, value, ok := strings.Cut(strings.ReplaceAll(raw, " ", ""), "=")
	switch {
	case !ok || strings.Contains(value, "="):
		return Selector{}, errors.New("is not one label")
	case len(validation.IsQualifiedName(key)) > 0:
		return Selector{}, fmt.Errorf("has the key %q, which is not a label", key)
	case len(validation.IsValidLabelValue(value)) > 0:
		return Selector{}, fmt.Errorf("has the value %q, which no label can have", value)
	}
	return Selector{key, value}, nil
}

// parseFeatures reads a list without regard to case and blanks.
func parseFeatures(raw string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(raw, " ", "")), ",") {
		switch name {
		case "", featureALB:
		case featureProxy:
			out = append(out, name)
		case featureNLB, featurePrivate, featureClassic:
			return nil, fmt.Errorf("asks for %s, which is not served yet", name)
		default:
			return nil, fmt.Errorf("has %q, which is not a feature", name)
		}
	}
	return out, nil
}

func parseName(raw string) (string, error) {
	if len(raw) > longestName || len(validation.IsDNS1035Label(raw)) > 0 {
		return "", errors.New("is not a name of a load balancer")
	}
	return raw, nil
}

// Keys of listeners and pools.
var (
	idleKey = &annotations.Key[int]{
		Name: prefix + "vpc-idle-connection-timeout", Group: groupTraffic, Example: "120",
		Doc: "Closes connections that are idle for this long, in seconds.",
		Forms: []annotations.Form[int]{{
			Type: annotations.IntRange(50, 7200), DefaultDoc: "50, and that of a live listener stays", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
		}},
	}
	quotaKey = &annotations.Key[int]{
		Name: prefix + "vpc-member-quota", Names: annotations.NamesNothing(), Group: groupTraffic, Example: "8",
		Doc: "Limits the nodes per zone that are members, with externalTrafficPolicy Cluster.",
		Forms: []annotations.Form[int]{{
			Type: annotations.Custom("quota", "a whole number; disable and max for no limit", parseQuota), DefaultDoc: "no limit", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
			Doc: "Existing members are kept first.", Needs: []annotations.Need{{annotations.FieldIs(annotations.FieldTrafficPolicy, "Cluster")}},
		}},
	}
)

func trafficKeys() []annotations.Declaration { return []annotations.Declaration{idleKey, quotaKey} }

func parseQuota(raw string) (int, error) {
	if word := strings.ToLower(raw); word == "disable" || word == "max" {
		return 0, nil
	}
	n, err := annotations.IntAtLeast(0).Parse(raw)
	if err != nil {
		return 0, errors.New("is not a number of nodes")
	}
	return n, nil
}

// laterKeys are keys of kinds and objects that are not served yet.
func laterKeys() []annotations.Declaration {
	later := func(name, group, doc, example, reason string) *annotations.Key[string] {
		return &annotations.Key[string]{
			Name: prefix + name, Names: annotations.NamesNothing(), Group: group, Example: example, Doc: doc,
			Forms: []annotations.Form[string]{{Type: annotations.String(), Support: annotations.Later, Reason: reason, Source: sourceManaged}},
		}
	}
	const network = "network load balancers are not served yet"
	return []annotations.Declaration{
		later("vpc-port-range", groupTraffic, "Ranges of ports of a network load balancer.", "30000-30010", network),
		later("vpc-health-check-udp", groupHealth, "TCP node port that is checked in place of a UDP port.", "30080", network),
		later("dns-name", groupGuard, "Host name that is registered for a network load balancer.", "web.example.com", network),
		later("vpc-security-group", groupGuard, "Security groups of the load balancer.", "r010-1f2d", "security groups are not managed yet"),
		later("vpc-allow-outbound-traffic", groupGuard, "Ports that the managed security group opens for outbound traffic.", "80,443", "security groups are not managed yet"),
		later("vpc-private-dns-instance-crn", groupGuard, "DNS instance of a private load balancer.", "crn:v1:bluemix:public:dns-svcs:global", "private DNS is not managed yet"),
		later("vpc-private-dns-zone-id", groupGuard, "DNS zone of a private load balancer.", "example.com:2d0f862b", "private DNS is not managed yet"),
		later("vpc-service-crn", groupKind, "Service of a private network load balancer of IBM's own.", "crn:v1:bluemix:public", "it is for IBM's own services"),
	}
}

// classicKeys are keys of load balancers of classic infrastructure, which are pods.
func classicKeys() []annotations.Declaration {
	classic := func(name, doc, example string) *annotations.Key[string] {
		return &annotations.Key[string]{
			Name: name, Names: annotations.NamesNothing(), Group: groupClassic, Example: example, Doc: doc,
			Forms: []annotations.Form[string]{{
				Type: annotations.String(), Support: annotations.Accepted, Reason: "load balancers of classic infrastructure are out of scope",
				Source: "IBM-Cloud/cloud-provider-ibm:docs/resources/service/annotations.md",
			}},
		}
	}
	return []annotations.Declaration{
		classic(prefix+"vlan", "VLAN from which the address is taken.", "2234945"),
		classic(prefix+"ipvs-scheduler", "How a version 2.0 load balancer chooses backends.", "sh"),
		classic("service.kubernetes.io/ibm-ingress-controller-public", "Takes the public address that is reserved for Ingress controllers.", "true"),
		classic("service.kubernetes.io/ibm-ingress-controller-private", "Takes the private address that is reserved for Ingress controllers.", "true"),
	}
}

func objectKeys() []annotations.Declaration {
	label := func(name, example, doc string) *annotations.Key[string] {
		return &annotations.Key[string]{
			Name: name, On: annotations.NodeLabel, Group: groupObjects, Example: example, Doc: doc,
			Forms: []annotations.Form[string]{{Type: annotations.String(), Source: source}},
		}
	}
	return []annotations.Declaration{
		annotations.ExcludeNode(groupObjects),
		label(labelInternalIP, "10.240.0.10", "Address by which the node is a member, in place of its InternalIP."),
		label(labelZone, "eu-de-1", "Zone of the node; without it topology.kubernetes.io/zone counts."),
		label(labelDedicated, edge, "With the value edge on any of the nodes, only such nodes are members."),
	}
}
