package model

import (
	"errors"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-lb/berth/annotations"
)

// Where the official controller reads keys.
const (
	source     = "oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer_spec.go"
	sourceMain = "oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer.go"
)

// Headings of the reference page.
const (
	groupKind    = "Kind and place"
	groupShape   = "Shape"
	groupTraffic = "Listeners and backend sets"
	groupTLS     = "TLS"
	groupHealth  = "Health checks"
	groupGuard   = "Security rules"
	groupTags    = "Tags"
	groupStatus  = "Status"
	groupObjects = "On other objects"
)

// Beginnings of keys.
const (
	oldPrefix = "service.beta.kubernetes.io/oci-load-balancer-"
	prefix    = "oci.oraclecloud.com/"
	netPrefix = "oci-network-load-balancer.oraclecloud.com/"
	mapPrefix = "oci-load-balancer.oraclecloud.com/"
)

// Annotations returns the set of all keys that the official controller reads, plus further
// keys that Oracle documents.
func Annotations() *annotations.Set {
	set, _ := declareAnnotations() // a set at fault says so on every Service
	return set
}

func declareAnnotations() (*annotations.Set, error) {
	return annotations.Collect("oci", []string{oldPrefix, prefix, netPrefix, mapPrefix}, annotationChecks(),
		placeKeys(), shapeKeys(), trafficKeys(), okeKeys(), tlsKeys(), healthKeys(), guardKeys(), tagKeys(), objectKeys())
}

func kindList(kind string) []string {
	if kind == "" {
		return nil
	}
	return []string{kind}
}

// textKey declares a key with any text; an empty one counts as absent.
func textKey(names annotations.Names, name, kind, group, doc, legal, example, fallback string, change annotations.Change) *annotations.Key[string] {
	return annotations.Naming(annotations.Text(name, group, doc, example, annotations.Form[string]{
		Kinds: kindList(kind), Type: annotations.String().Legally(legal), DefaultDoc: fallback, Change: change, Empty: annotations.EmptyAbsent, Source: source,
	}), names)
}

// ocidKey declares a key with the OCID of something that says where the load balancer is.
func ocidKey(names annotations.Names, of annotations.Type[string], name, kind, doc, example string, change annotations.Change) *annotations.Key[string] {
	k := textKey(names, name, kind, groupKind, doc, of.Legal(), example, "", change)
	k.Forms[0].Type = of
	return k
}

// flagKey declares a key with the values of Go's ParseBool.
func flagKey(name, kind, group, doc, fallback string, change annotations.Change) *annotations.Key[bool] {
	return annotations.Flag(name, group, doc, annotations.Form[bool]{Kinds: kindList(kind), DefaultDoc: fallback, Change: change, Source: source})
}

// numberKey declares a key with an integer.
func numberKey(name, kind, group, doc, example string, t annotations.Type[int], standard int, fallback string) *annotations.Key[int] {
	return annotations.Number(name, group, doc, example, annotations.Form[int]{Kinds: kindList(kind), Type: t, Default: standard, DefaultDoc: fallback, Source: source})
}

// choiceKey declares a key with one of some words.
func choiceKey(name, kind, group, doc, standard string, words ...string) *annotations.Key[string] {
	return annotations.Text(name, group, doc, words[len(words)-1], annotations.Form[string]{Kinds: kindList(kind), Type: annotations.Enum(words...), Default: standard, Source: source})
}

const (
	exampleSubnet      = "ocid1.subnet.oc1.iad.aaaaaaaa5b0c"
	exampleGroup       = "ocid1.networksecuritygroup.oc1.iad.aaaaaaaa7f21"
	exampleCompartment = "ocid1.compartment.oc1..aaaaaaaa3c5e"
)

// Keys of the kind and the place.
var (
	typeKey = &annotations.Key[string]{
		Name: prefix + "load-balancer-type", Group: groupKind, Example: "nlb",
		Doc: "Chooses the product: lb is the Load Balancer, nlb the Network Load Balancer.",
		Forms: []annotations.Form[string]{{
			Type: annotations.EnumFold(LB, NLB), Default: LB, Fallback: LB, Change: annotations.Replaced, Bad: annotations.UseFallback, Source: source,
			Doc: "After a change the other one is created first; the old one is deleted when the status shows the new addresses.",
		}},
	}
	internalKey        = annotations.Exposing(flagKey(oldPrefix+"internal", LB, groupKind, "Gives the load balancer a private address.", "false", annotations.IgnoredAfterCreation), annotations.ToInternet)
	netInternalKey     = annotations.Exposing(flagKey(netPrefix+"internal", NLB, groupKind, "Gives the network load balancer a private address.", "false", annotations.IgnoredAfterCreation), annotations.ToInternet)
	subnetKey          = annotations.Configured(ocidKey(annotations.NamesThe(annotations.ThingSubnet), subnetID(), oldPrefix+"subnet1", LB, "Subnet of the load balancer. A regional one is used alone.", exampleSubnet, annotations.IgnoredAfterCreation), annotations.EmptyAbsent, settingSubnet)
	secondSubnetKey    = annotations.Configured(annotations.Needing(ocidKey(annotations.NamesThe(annotations.ThingSubnet), subnetID(), oldPrefix+"subnet2", LB, "Second subnet of a public load balancer whose subnets are each in one availability domain.", exampleSubnet, annotations.IgnoredAfterCreation), annotations.Need{subnetKey.IsSet(), annotations.Setting(settingSubnet, "")}), annotations.EmptyAbsent, "loadBalancer.subnet2")
	netSubnetKey       = annotations.Configured(ocidKey(annotations.NamesThe(annotations.ThingSubnet), subnetID(), netPrefix+"subnet", NLB, "Subnet of the network load balancer.", exampleSubnet, annotations.IgnoredAfterCreation), annotations.EmptyAbsent, settingSubnet)
	assignedKey        = textKey(annotations.NamesThe(annotations.ThingAddress), netPrefix+"assigned-private-ipv4", NLB, groupKind, "Private IPv4 address of the network load balancer.", "a free IPv4 address of its subnet", "10.0.10.7", "the subnet chooses", annotations.IgnoredAfterCreation)
	assigned6Key       = annotations.Needing(textKey(annotations.NamesThe(annotations.ThingAddress), netPrefix+"assigned-ipv6", NLB, groupKind, "IPv6 address of the network load balancer.", "a free IPv6 address of its subnet", "2001:db8::7", "the subnet chooses", annotations.IgnoredAfterCreation), annotations.Need{annotations.FieldIs(annotations.FieldFamilies, "IPv6")})
	reservedKey        = reservedIPs()
	reservedPrivateKey = annotations.Needing(reservedPrivateIP(), annotations.Need{internalKey.Is(true), netInternalKey.Is(true)})
	compartmentKey     = newCompartmentKey()
	accountKey         = serviceAccount()
	externalOnlyKey    = flagKey(netPrefix+"external-ip-only", NLB, groupStatus, "Leaves private addresses of a public network load balancer out of the status.", "false", annotations.InPlace)
	ingressModeKey     = ingressMode()
	groupsKey          = groupList(prefix+"oci-network-security-groups", LB)
	netGroupsKey       = groupList(netPrefix+"oci-network-security-groups", NLB)
	nodeSelectorKey    = nodeSelector(prefix+"node-label-selector", LB)
	netNodeSelectorKey = nodeSelector(netPrefix+"node-label-selector", NLB)
)

// settingSubnet is the setting that stands in for the first subnet.
const settingSubnet = "loadBalancer.subnet1"

// Settings are the values of the configuration that annotations depend on.
func Settings(c Config) map[string]string {
	return map[string]string{settingSubnet: c.LoadBalancer.Subnet1}
}

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{
		typeKey, internalKey, netInternalKey, subnetKey, secondSubnetKey, netSubnetKey, assignedKey, assigned6Key, reservedKey, reservedPrivateKey, compartmentKey, accountKey,
		externalOnlyKey, ingressModeKey, groupsKey, netGroupsKey, nodeSelectorKey, netNodeSelectorKey,
	}
}

func newCompartmentKey() *annotations.Key[string] {
	k := annotations.Configured(ocidKey(annotations.NamesThe(annotations.ThingResourceGroup), compartmentID(), prefix+"compartment-id", "", "Compartment that the load balancer is made in.", exampleCompartment, annotations.Replaced),
		annotations.EmptyAbsent, "compartment")
	k.OnDelete = true
	k.Forms[0].Doc = "Resources in the configuration's compartment are deleted when their successors serve; resources in a third compartment are not found any more."
	return k
}

func serviceAccount() *annotations.Key[string] {
	return &annotations.Key[string]{
		Name: prefix + "workload-service-account", Names: annotations.NamesThe(annotations.ThingAccount), Group: groupKind, Example: "web-balancer", OnDelete: true,
		Doc: "ServiceAccount of the Service's namespace whose workload identity makes all calls for the Service.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Custom("service account", "the name of a ServiceAccount of the Service's namespace", func(raw string) (string, error) {
				if len(validation.IsDNS1123Subdomain(raw)) > 0 {
					return "", errors.New("is none")
				}
				return raw, nil
			}),
			DefaultDoc: "the credentials of the configuration", Source: sourceMain,
			Doc: "The controller needs the right to request tokens of it. Existing resources must be visible to that identity; the next run uses another one.",
		}},
	}
}

// AccountKey is the annotation that names the ServiceAccount whose identity makes calls.
func AccountKey() string { return accountKey.Name }

func reservedIPs() *annotations.Key[[]string] {
	return &annotations.Key[[]string]{
		Name: prefix + "reserved-ips", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupKind, Example: "203.0.113.7",
		Doc: "Reserved public addresses of the load balancer, in place of spec.loadBalancerIP.",
		Forms: []annotations.Form[[]string]{{
			Type:   annotations.ListWith(annotations.ListOptions{AtMost: 2}, annotations.String().Legally("a reserved public IPv4 address, or a reserved IPv6 address of the subnet")),
			Change: annotations.IgnoredAfterCreation, Source: "https://docs.oracle.com/en-us/iaas/releasenotes/conteng/conteng-LB-NLB-annotation-for-Reserved-IPv4.htm",
			Doc: "One of each family at most; a pair on lb only.",
		}},
	}
}

// privateIPPrefix begins the OCID of a private address.
const privateIPPrefix = "ocid1.privateip."

func reservedPrivateIP() *annotations.Key[string] {
	legal := "the OCID of a reserved private IPv4 address of the subnet, or the address itself"
	return &annotations.Key[string]{
		Name: prefix + "reserved-private-ips", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupKind, Example: "10.0.10.7",
		Doc: "Reserved private IPv4 address of an internal load balancer; it is kept when the load balancer is deleted.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Custom("private address", legal, func(raw string) (string, error) {
				if id, err := ocidType("", sortPrivateIP).Parse(raw); err == nil {
					return id, nil
				}
				a, err := netip.ParseAddr(raw)
				if err != nil || !a.Is4() {
					return "", errors.New("is neither")
				}
				return a.String(), nil
			}),
			Empty: annotations.EmptyAbsent, DefaultDoc: "the subnet chooses", Change: annotations.IgnoredAfterCreation, Source: "https://docs.oracle.com/en-us/iaas/releasenotes/conteng/conteng-Reserved-private-IP-address-LB-NLB-NIC.htm",
			Doc: "The subnet keeps it for the load balancer from before; an address of its own choice is given by assigned-private-ipv4, on nlb only.",
		}},
	}
}

func ingressMode() *annotations.Key[string] {
	return &annotations.Key[string]{
		Name: prefix + "ingress-ip-mode", Group: groupStatus, Example: "proxy",
		Doc:   "Says in the status whether nodes may answer for the load balancer's addresses (vip) or must go through it (proxy).",
		Forms: []annotations.Form[string]{{Type: annotations.EnumFold("Proxy", "VIP"), DefaultDoc: "not said", Source: source}},
	}
}

func groupList(name, kind string) *annotations.Key[[]string] {
	return &annotations.Key[[]string]{
		Name: name, Names: annotations.NamesThe(annotations.ThingSecurityGroup), Group: groupGuard, Example: exampleGroup,
		Doc: "Network security groups that the load balancer is in.",
		Forms: []annotations.Form[[]string]{{
			Kinds: kindList(kind), Type: annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: mostGroups}, groupID()), Source: source,
			Doc: "With rules in a group of its own, that one counts as well.",
		}},
	}
}

func nodeSelector(name, kind string) *annotations.Key[Selector] {
	return &annotations.Key[Selector]{
		Name: name, Names: annotations.NamesNothing(), Group: groupTraffic, Example: "role=ingress",
		Doc: "Selects the nodes that are backends by their labels.",
		Forms: []annotations.Form[Selector]{{
			Kinds: kindList(kind), Type: annotations.Custom("label selector", "a Kubernetes label selector", parseSelector), DefaultDoc: "all nodes", Source: sourceMain,
			Doc: "Requirements are separated by commas: key=value, key==value, key!=value, key in (a, b), key notin (a, b), key, !key.",
		}},
	}
}

// annotationChecks returns the checks that involve several keys.
func annotationChecks() []annotations.Check {
	return []annotations.Check{checkPreserve, checkFlexible, checkTLS, checkSubnets, checkSessions}
}

func objectKeys() []annotations.Declaration {
	passive := func(name string, on annotations.Place, doc, reason string) *annotations.Key[string] {
		return &annotations.Key[string]{
			Name: name, On: on, Group: groupObjects, Example: "true", Doc: doc,
			Forms: []annotations.Form[string]{{Type: annotations.String(), Support: annotations.Accepted, Reason: reason, Source: sourceMain}},
		}
	}
	const addresses = "it decides on the addresses of the Node object, which are read"
	return []annotations.Declaration{
		annotations.ExcludeNode(groupObjects),
		passive(prefix+"compartment-id", annotations.NodeAnnotation, "Compartment of the node's instance.", "the instance itself tells its compartment"),
		passive(prefix+"ip-family-ipv4", annotations.NodeLabel, "Gives the Node IPv4 addresses.", addresses),
		passive(prefix+"ip-family-ipv6", annotations.NodeLabel, "Gives the Node IPv6 addresses.", addresses),
	}
}
