package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-lb/berth/annotations"
)

// Where the keys are read: the open controller, and the documentation of the controller of
// IBM's managed clusters.
const (
	source        = "IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go"
	sourceManaged = "https://cloud.ibm.com/docs/containers?topic=containers-vpclb_manage"
	// sourceOutbound has the group that the key is about.
	sourceOutbound = "https://cloud.ibm.com/docs/containers?topic=containers-setup_vpc_alb"
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
	return annotations.Collect("ibm", []string{prefix, "service.kubernetes.io/ibm-"}, []annotations.Check{checkHealth, checkDNS},
		placeKeys(), trafficKeys(), healthKeys(), guardKeys(), laterKeys(), classicKeys(), objectKeys())
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

func onALB() []string { return []string{ALB} }

// onNetwork lists the kinds of network load balancers.
func onNetwork() []string { return []string{NLB, PrivatePath} }

// Keys of the kind and the place.
var (
	ipTypeKey = &annotations.Key[string]{
		Name: prefix + "ip-type", Group: groupKind, Example: private, Exposes: annotations.ToInternet,
		Doc: "Public load balancers are reached by clients of the Internet, private ones by clients of the network.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{ALB, NLB}, Type: annotations.Enum(public, private), Default: public, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: source,
			Doc: "The official controller takes any other value for private. A live load balancer cannot change: create a second Service, move the clients to it, and delete the first.",
		}, {
			Kinds: []string{PrivatePath}, Type: annotations.Enum(private), Default: private, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: sourceManaged,
		}},
	}
	featuresKey = &annotations.Key[[]string]{
		Name: prefix + "enable-features", Names: annotations.NamesNothing(), Group: groupKind, Example: featureProxy,
		Doc: "Chooses the kind of load balancer and its options.",
		Forms: []annotations.Form[[]string]{{
			Type:       annotations.Custom("list of features", "one of alb, nlb and private-path, and proxy-protocol of an alb, separated by commas", parseFeatures),
			DefaultDoc: "an application load balancer without options", Change: annotations.InPlace, Source: source,
			Doc: "proxy-protocol sends members the address of the client by version 1 of the PROXY protocol. A change of the kind is refused. Load balancers of classic infrastructure (ipvs) are not served.",
		}},
	}
	zoneKey = &annotations.Key[string]{
		Name: prefix + "zone", Names: annotations.NamesThe(annotations.ThingZone), Group: groupKind, Example: "eu-de-1",
		Doc: "Restricts the load balancer to the subnets of the cluster, and the members to the nodes, of one zone.",
		Forms: []annotations.Form[string]{{
			Kinds: onALB(), Type: annotations.String().Legally("the name of a zone"), DefaultDoc: "all zones", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: "vpc-subnets decides on the subnets where both are set, and vpc-node-selector on the nodes.",
		}, {
			Kinds: onNetwork(), Type: annotations.String().Legally("the name of a zone"), DefaultDoc: "of an nlb the zone with the fewest network load balancers of the cluster, then with the most nodes",
			Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: sourceManaged,
		}},
	}
	subnetsKey = &annotations.Key[[]string]{
		Name: prefix + "vpc-subnets", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupKind, Example: "0717-3a7b6c1d-5b0c-4c66-8e5c-9a61b3a1c1d2",
		Doc: "Subnets of the load balancer, each by its id, name or IPv4 range.",
		Forms: []annotations.Form[[]string]{{
			Kinds: onALB(),
			Type:  annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: mostSubnets}, annotations.String().Legally("the id, name or IPv4 range of a subnet of the VPC")),
			Or:    []string{"g2VpcSubnetNames"}, Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: "Without the key a live load balancer keeps its subnets.",
		}, {
			Kinds:      []string{NLB},
			Type:       annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: 1}, annotations.String().Legally("the id, name or IPv4 range of a subnet of the VPC")),
			DefaultDoc: "the first subnet of the cluster in the zone", Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: sourceManaged,
			Doc: "A private network load balancer needs the key, with a subnet that no node is in.",
		}, {
			Kinds: []string{PrivatePath},
			Type:  annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: mostSubnets}, annotations.String().Legally("the id, name or IPv4 range of a subnet of the VPC")),
			Or:    []string{"g2VpcSubnetNames"}, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: sourceManaged,
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
	var out, kinds []string
	for _, name := range featuresIn(raw) {
		switch name {
		case featureALB, featureNLB, featurePrivate:
			if !slices.Contains(kinds, name) {
				kinds = append(kinds, name)
			}
		case featureProxy:
		case featureClassic:
			return nil, errors.New("asks for ipvs, a load balancer of classic infrastructure, which is not served")
		default:
			return nil, fmt.Errorf("has %q, which is not a feature", name)
		}
		out = append(out, name)
	}
	switch {
	case len(kinds) > 1:
		return nil, fmt.Errorf("asks for the kinds %s at once", strings.Join(kinds, " and "))
	case slices.Contains(out, featureProxy) && len(kinds) == 1 && kinds[0] != featureALB:
		return nil, errors.New("asks for proxy-protocol, which network load balancers do not speak")
	}
	return out, nil
}

// featuresIn splits a list of features.
func featuresIn(raw string) []string {
	items := strings.Split(strings.ToLower(strings.ReplaceAll(raw, " ", "")), ",")
	return slices.DeleteFunc(items, func(item string) bool { return item == "" })
}

func parseName(raw string) (string, error) {
	if len(raw) > longestName || len(validation.IsDNS1035Label(raw)) > 0 {
		return "", errors.New("is not a name of a load balancer")
	}
	return raw, nil
}

// classicKeys are keys of load balancers of classic infrastructure, which are pods.
func classicKeys() []annotations.Declaration {
	classic := func(name, doc, example string) *annotations.Key[string] {
		k := annotations.Text(name, groupClassic, doc, example, annotations.Form[string]{
			Support: annotations.Accepted, Reason: "load balancers of classic infrastructure are out of scope", Source: "IBM-Cloud/cloud-provider-ibm:docs/resources/service/annotations.md",
		})
		k.Names = annotations.NamesNothing()
		return k
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
		return annotations.On(annotations.NodeLabel, annotations.Text(name, groupObjects, doc, example, annotations.Form[string]{Source: source}))
	}
	return []annotations.Declaration{
		annotations.ExcludeNode(groupObjects),
		label(labelInternalIP, "10.240.0.10", "Address by which the node is a member, in place of its InternalIP."),
		label(labelInstance, "0717_8a2b3c4d-1e2f-4a5b-8c9d-0a1b2c3d4e5f", "Instance of the node, by which it is a member of a network load balancer."),
		label(labelInstanceIPI, "0717_8a2b3c4d-1e2f-4a5b-8c9d-0a1b2c3d4e5f", "The same in clusters of an installer; the first one counts."),
		label(labelZone, "eu-de-1", "Zone of the node."),
		label(corev1.LabelTopologyZone, "eu-de-1", "Zone of a node without the label of IBM Cloud."),
		label(labelDedicated, edge, "With the value edge on any of the nodes, only such nodes are members."),
	}
}
