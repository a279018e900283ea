package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Where the keys are read.
const (
	source     = "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/clbv1"
	sourceNode = "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/node_utils.go"
	sourceName = "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/reconcile/annotation/annotations.go"
)

// Headings of the reference page.
const (
	groupKind     = "Kind and place"
	groupReuse    = "Existing load balancers"
	groupAccess   = "Access control"
	groupBilling  = "Billing and size"
	groupListener = "Listeners"
	groupHealth   = "Health checks"
	groupBackends = "Backends"
	groupNLB      = "Network load balancers"
	groupObjects  = "On other objects"
)

// Prefixes of keys. Every key of the first has a deprecated spelling with the second.
const (
	domain    = "service.beta.kubernetes.io/"
	prefix    = domain + "alibaba-cloud-loadbalancer-"
	oldPrefix = domain + "alicloud-loadbalancer-"
)

// Annotations is the set of all keys that the official controller reads.
func Annotations() *annotations.Set {
	set, _ := collectKeys() // a set at fault reports it on every Service
	return set
}

func collectKeys() (*annotations.Set, error) {
	var settings []annotations.Declaration
	for _, s := range listenerSettings() {
		settings = append(settings, s.key)
	}
	return annotations.Collect("alibaba", []string{domain + "alibaba-cloud-", domain + "alicloud-"}, []annotations.Check{checkProtocols},
		placeKeys(), reuseKeys(), billingKeys(), protocolKeys(), settings, backendKeys(), networkKeys(), objectKeys())
}

// textKey declares a key whose value is a text.
func textKey(name, group string, names annotations.Names, t annotations.Type[string], change annotations.Change, example, doc, standard string) *annotations.Key[string] {
	k := inBothSpellings(annotations.Text(prefix+name, group, doc, example, annotations.Plain(t, change, standard, source)))
	k.Names = names
	return k
}

// wordKey declares a key with a closed list of values.
func wordKey(name, group string, change annotations.Change, doc, standard string, values ...string) *annotations.Key[string] {
	return textKey(name, group, annotations.NamesNothing(), annotations.Enum(values...), change, values[0], doc, standard)
}

// numberKey declares a key whose value is a number in a range.
func numberKey(name, group, example, doc string, lowest, highest int, standard string) *annotations.Key[int] {
	return inBothSpellings(annotations.Number(prefix+name, group, doc, example, annotations.Plain(annotations.IntRange(lowest, highest), annotations.InPlace, standard, source)))
}

// inBothSpellings declares that a new key has a deprecated spelling as well. An empty value hides that one.
func inBothSpellings[T any](k *annotations.Key[T]) *annotations.Key[T] {
	k.Aliases, k.EmptyHides = []string{oldPrefix + strings.TrimPrefix(k.Name, prefix)}, true
	return k
}

// Values of address-type and network-type.
const (
	internet = "internet"
	intranet = "intranet"
	classic  = "classic"
	vpc      = "vpc"
)

// Values of ip-version and backend-ip-version.
const (
	ipv4      = "ipv4"
	ipv6      = "ipv6"
	dualstack = "dualstack" // of backend-ip-version alone
)

// cloudChooses is the default of a key that is left to the cloud.
const cloudChooses = "the cloud chooses"

// Keys of the kind and the place.
var (
	addressTypeKey = annotations.Exposing(&annotations.Key[string]{
		Name: prefix + "address-type", Aliases: []string{oldPrefix + "address-type"}, EmptyHides: true, Group: groupKind, Example: intranet,
		Doc: "Internet load balancers have a public address, intranet ones a private address.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{CLB}, Type: annotations.Enum(internet, intranet), Default: internet, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Removal: annotations.Stays, Source: source,
			Doc: "A live load balancer cannot change: create a second Service, move the clients to it, and delete the first.",
		}, {
			Kinds: []string{NLB}, Type: annotations.EnumFold(internet, intranet), Default: internet, Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Removal: annotations.Stays, Source: sourceNet,
		}},
	}, annotations.ToInternet)
	networkTypeKey = onClassic(onIntranet(wordKey("network-type", groupKind, annotations.Refused, "Whether an intranet load balancer is in the VPC or in the classic network.", "vpc", classic, vpc)))
	vswitchKey     = onClassic(onIntranet(textKey("vswitch-id", groupKind, annotations.NamesThe(annotations.ThingSubnet), annotations.String().Legally("the id of a vSwitch of the VPC"), annotations.IgnoredAfterCreation,
		"vsw-2ze1a2b3c4d5e6f7g8h9i", "The vSwitch of an intranet load balancer.", "the first configured vSwitch that has a free address")))
	addressKey = onClassic(onIntranet(textKey("ip", groupKind, annotations.NamesThe(annotations.ThingAddress), annotations.Custom("address", "an IPv4 address of the vSwitch", parseAddress), annotations.Refused,
		"192.168.0.20", "The address of an intranet load balancer.", cloudChooses)))
	zoneKey = onClassic(textKey("master-zoneid", groupKind, annotations.NamesThe(annotations.ThingZone), annotations.String().Legally("the id of a zone"), annotations.Refused,
		"cn-hangzhou-h", "Primary zone of the load balancer.", cloudChooses))
	backupKey = onClassic(textKey("slave-zoneid", groupKind, annotations.NamesThe(annotations.ThingZone), annotations.String().Legally("the id of a zone"), annotations.Refused,
		"cn-hangzhou-i", "Secondary zone of the load balancer.", cloudChooses))
	ipVersionKey = &annotations.Key[string]{
		Name: prefix + "ip-version", Aliases: []string{oldPrefix + "ip-version"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupKind, Example: ipv6,
		Doc: "Address family of the load balancer.",
		Forms: []annotations.Form[string]{
			{Kinds: []string{CLB}, Type: annotations.Enum(ipv6, ipv4), Default: ipv4, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: source},
			{Kinds: []string{NLB}, Type: annotations.EnumFold(netDualStack, ipv4), Default: ipv4, Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: sourceNet},
		},
	}
	nameKey = onBoth(textKey("name", groupKind, annotations.NamesNothing(), annotations.Custom("name", fmt.Sprintf("1 to %d characters", longestName), parseName), annotations.InPlace,
		"shop-web", "Name of the load balancer. Its owner tag does not change.", "a<UID>, cut to 32 characters"), func(f *annotations.Form[string]) {
		f.Type = annotations.Custom("name", fmt.Sprintf("2 to %d characters", longestNetName), parseNetName)
	})
	groupKey = annotations.Configured(textKey("resource-group-id", groupKind, annotations.NamesThe(annotations.ThingResourceGroup), annotations.String().Legally("the id of a resource group"), annotations.Refused,
		"rg-acfmxazb4ph6aiy", "Resource group of the load balancer.", "the default group of the account"), annotations.EmptyAbsent, "resourceGroupID")
	tagsKey = &annotations.Key[map[string]string]{
		Name: prefix + "additional-resource-tags", Aliases: []string{oldPrefix + "additional-resource-tags"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupKind, Example: "Team=web,Stage=live",
		Doc: "More tags of the load balancer.",
		Forms: []annotations.Form[map[string]string]{{
			Type: annotations.MapLenient(), DefaultDoc: "none", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceName,
			Doc: "Tags that are not listed stay. The official controller removes them.",
		}},
	}
	deleteProtectionKey       = onClassic(wordKey("delete-protection", groupKind, annotations.InPlace, "Protects the load balancer against deletion by others. Berth switches it off to delete the load balancer itself.", "on, and that of a live one stays", on, off))
	modificationProtectionKey = onClassic(wordKey("modification-protection", groupKind, annotations.InPlace, "Protects the load balancer against changes in the console.", "ConsoleProtection, and that of a live one stays", consoleProtection, "NonProtection"))
	preserveKey               = &annotations.Key[bool]{
		Name: prefix + preserveName, Aliases: []string{oldPrefix + preserveName}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupKind, Example: "true", OnDelete: true,
		Doc: "Keeps the load balancer with its listeners and server groups when the Service is deleted. Its protections are switched off, and the tags of the controller are removed.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolUnless(), Fallback: true, Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: `Any text counts, "false" and "off" as well.`,
		}},
	}
	statusKey   = onClassic(wordKey("external-ip-type", groupKind, annotations.InPlace, "Shows the elastic IP addresses of the load balancer in the status, if it has any.", "the address of the load balancer", "eip"))
	hostnameKey = onClassic(textKey("hostname", groupKind, annotations.NamesThe(annotations.ThingHostname), annotations.NonEmpty(), annotations.InPlace, "shop.example.com", "Host name that the status of the Service has in place of the address.", "the address"))
)

// Values of switches and protections.
const (
	on                = "on"
	off               = "off"
	consoleProtection = "ConsoleProtection"
)

// onIntranet declares that a key has an effect on intranet load balancers only.
func onIntranet(k *annotations.Key[string]) *annotations.Key[string] {
	return annotations.Needing(k, annotations.Need{addressTypeKey.Is(intranet)})
}

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{
		addressTypeKey, networkTypeKey, vswitchKey, addressKey, zoneKey, backupKey, ipVersionKey, nameKey, groupKey, tagsKey, deleteProtectionKey, modificationProtectionKey, preserveKey, statusKey, hostnameKey,
		classKey, tunnelKey, typeKey,
	}
}

// Keys by which the Service belongs to another controller.
var (
	classKey  = elsewhereKey(domain+"class", "custom", "Any value leaves the Service to another controller.", annotations.NonEmpty(), "")
	tunnelKey = elsewhereKey(prefix+"tunnel-type", "cross-region", "The key leaves the Service to the controller of edge clusters, whatever the value.", annotations.String(), "")
	typeKey   = elsewhereKey(prefix+"type", NLB, "With the feature gate LoadBalancerTypeAnnotation the value nlb asks for a network load balancer, and any other leaves the Service to another controller.", annotations.String(), "Without the gate the key has no effect.")
)

func elsewhereKey(name, example, doc string, t annotations.Type[string], note string) *annotations.Key[string] {
	return &annotations.Key[string]{
		Name: name, Names: annotations.NamesNothing(), Group: groupKind, Example: example, Doc: doc,
		Forms: []annotations.Form[string]{{Type: t, DefaultDoc: "absent", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Doc: note, Source: "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/service_utils.go"}},
	}
}

// Ways to pay. Source: API of SLB, CreateLoadBalancer.
const (
	payByUse  = "PayByCLCU"
	payBySize = "PayBySpec"
	byTraffic = "paybytraffic"
	byRate    = "paybybandwidth"

	standardSize = "slb.s1.small"
)

// Keys of billing and size.
var (
	chargeKey    = annotations.Staying(onClassic(wordKey("instance-charge-type", groupBilling, annotations.InPlace, "Whether the load balancer is paid by use or by its size.", "PayByCLCU, and that of a live one stays", payByUse, payBySize)))
	sizeKey      = onClassic(textKey("spec", groupBilling, annotations.NamesThe(annotations.ThingFlavor), annotations.Enum(standardSize, "slb.s2.small", "slb.s2.medium", "slb.s3.small", "slb.s3.medium", "slb.s3.large"), annotations.InPlace, standardSize, "Size of a load balancer that is paid by its size.", standardSize))
	trafficKey   = annotations.Staying(onClassic(onInternet(wordKey("charge-type", groupBilling, annotations.InPlace, "Whether public traffic is paid by volume or by bandwidth.", "paybytraffic, and that of a live one stays", byTraffic, byRate))))
	bandwidthKey = onClassic(onInternet(numberKey("bandwidth", groupBilling, "100", "Bandwidth of a public load balancer, in Mbit/s.", 1, 5000, "that of the cloud")))
)

func onInternet[T any](k *annotations.Key[T]) *annotations.Key[T] {
	return annotations.Needing(k, annotations.Need{addressTypeKey.Is(internet)})
}

func billingKeys() []annotations.Declaration {
	return []annotations.Declaration{chargeKey, sizeKey, trafficKey, bandwidthKey}
}

func parseName(raw string) (string, error) {
	if len([]rune(raw)) > longestName {
		return "", errors.New("is too long")
	}
	return raw, nil
}

// Keys of backends.
var (
	weightKey = numberKey("default-weight", groupBackends, "50", "Weight of each node with externalTrafficPolicy Cluster.", 0, 100, "100")
	labelKey  = &annotations.Key[map[string]string]{
		Name: prefix + "backend-label", Aliases: []string{oldPrefix + "backend-label"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupBackends, Example: "node-pool=edge,tier=web",
		Doc: "Selects the nodes that are backends by their labels.",
		Forms: []annotations.Form[map[string]string]{{
			Type: annotations.Custom("labels", "labels and their values, separated by commas: key=value", parseLabels), DefaultDoc: "all nodes", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/reconcile/backend/backend.go",
		}},
	}
	unscheduledKey  = wordKey("remove-unscheduled-backend", groupBackends, annotations.InPlace, "Removes cordoned nodes from the backends.", off, on, off)
	ignoreWeightKey = &annotations.Key[bool]{
		Name: prefix + "ignore-weight-update", Aliases: []string{oldPrefix + "ignore-weight-update"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupBackends, Example: on,
		Doc: "Leaves the weights of existing backends as they are.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolWords([]string{on}, []string{off}, true), Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
		}},
	}
	typeOfBackendsKey = &annotations.Key[string]{
		Name: domain + "backend-type", Names: annotations.NamesNothing(), Group: groupBackends, Example: ServerENI,
		Doc: "Whether nodes (ecs) or pods, by their network interfaces (eni), are backends.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Enum(ServerENI, ServerECS), Or: []string{settingBackends}, DefaultDoc: "nodes", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/service_utils.go",
		}},
	}
	backendFamilyKey = onBoth(annotations.Needing(&annotations.Key[string]{
		Name: prefix + "backend-ip-version", Aliases: []string{oldPrefix + "backend-ip-version"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupBackends, Example: ipv6,
		Doc: "Address family of the pods that are backends, or that count as weight.",
		Forms: []annotations.Form[string]{{
			Type: annotations.EnumFold(ipv6, ipv4), DefaultDoc: ipv4, Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/reconcile/backend/backend.go",
		}},
	}, annotations.Need{ipVersionKey.Is(ipv6)}, annotations.Need{annotations.Setting(settingDual, gateOn)}), func(f *annotations.Form[string]) {
		f.Type, f.Change = annotations.EnumFold(ipv6, dualstack, ipv4), annotations.InPlace
		f.Needs = []annotations.Need{{ipVersionKey.Is(netDualStack)}, {annotations.Setting(settingDual, gateOn)}}
	})
	gracefulKey = annotations.Needing(&annotations.Key[bool]{
		Name: prefix + "graceful-shutdown", Aliases: []string{oldPrefix + "graceful-shutdown"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupBackends, Example: "true",
		Doc: "Keeps pods that terminate and still serve in the server group, with weight 0.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolWords([]string{"true"}, []string{"false"}, false), Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: "kubernetes/cloud-provider-alibaba-cloud v2.15.0, release notes",
		}},
	}, annotations.Need{typeOfBackendsKey.Is(ServerENI), annotations.Setting(settingBackends, ServerENI)})
)

func backendKeys() []annotations.Declaration {
	return []annotations.Declaration{weightKey, labelKey, unscheduledKey, ignoreWeightKey, typeOfBackendsKey, backendFamilyKey, gracefulKey}
}

func parseLabels(raw string) (map[string]string, error) {
	out := map[string]string{}
	for item := range strings.SplitSeq(raw, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("has %q, which is not a label and its value", item)
		}
		out[key] = value
	}
	return out, nil
}

func objectKeys() []annotations.Declaration {
	label := func(name, example, doc string) *annotations.Key[string] {
		return annotations.On(annotations.NodeLabel, annotations.Text(name, groupObjects, doc, example, annotations.Form[string]{Source: sourceNode}))
	}
	out := []annotations.Declaration{annotations.ExcludeNode(groupObjects)}
	for _, name := range excludingLabels() {
		out = append(out, label(name, "true", "Keeps the node out of the backends, whatever the value."))
	}
	return append(out, label(labelVirtual, virtualKubelet, "With the value virtual-kubelet the node is no backend: its pods are, by their network interfaces."))
}
