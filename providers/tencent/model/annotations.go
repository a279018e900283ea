package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Where the keys are documented.
const (
	sourceDoc      = "https://cloud.tencent.com/document/product/457/51258"
	sourceOpen     = "TencentCloud/tencentcloud-cloud-controller-manager:tencentcloud/loadbalancer.go"
	sourceExisting = "https://cloud.tencent.com/document/product/457/45491"
	sourceCross    = "https://cloud.tencent.com/document/product/457/59094"
	sourceSample   = "a published manifest of a cluster of TKE"
)

// Headings of the reference page.
const (
	groupPlace    = "Kind and place"
	groupListener = "Listeners"
	groupGuard    = "Security"
	groupBackends = "Backends"
	groupOutput   = "Written by controllers"
	groupObjects  = "On other objects"
)

// Prefixes of keys.
const (
	kube   = "service.kubernetes.io/"
	cloud  = "service.cloud.tencent.com/"
	opened = "service.beta.kubernetes.io/tencentcloud-loadbalancer-"
)

// Annotations is the set of all keys that the official controllers read or write.
func Annotations() *annotations.Set {
	set, _ := collectKeys() // a set at fault reports it on every Service
	return set
}

func collectKeys() (*annotations.Set, error) {
	return annotations.Collect("tencent", []string{cloud, opened, kube + "qcloud-", kube + "tke-", kube + "loadbalance-", kube + "local-svc-", kube + "service.", "kubernetes.io/service.internet"},
		[]annotations.Check{checkPlace, checkProtocols}, placeKeys(), listenerKeys(), guardKeys(), backendKeys(), laterKeys(), outputKeys(), objectKeys())
}

// Values of the keys of the open controller.
const (
	public      = "public"
	private     = "private"
	classic     = "classic"
	application = "application"
	skip        = "skip"
)

// Keys of the kind and the place.
var (
	existedKey    = onDelete(annotations.Identifier(kube+"tke-existed-lbid", groupPlace, annotations.ThingLoadBalancer, "lb-", "Uses an existing load balancer, which stays when the Service is deleted. Services of the cluster can share it.", "lb-6swtxxxx", annotations.Refused, "a load balancer of the Service's own", sourceExisting))
	modeKey       = onDelete(annotations.Text(cloud+"mode", groupPlace, "With skip nothing of the Service is created, changed or deleted.", skip, annotations.Plain(annotations.Enum(skip), annotations.InPlace, "the Service is served", sourceDoc)))
	subnetKey     = annotations.Exposing(annotations.Identifier(kube+"qcloud-loadbalancer-internal-subnetid", groupPlace, annotations.ThingSubnet, "subnet-", "Makes the load balancer internal, with an address of this subnet.", "subnet-k57djpow", annotations.Refused, "a public load balancer", sourceDoc), annotations.ToInternet)
	openTypeKey   = annotations.Exposing(annotations.Text(opened+"type", groupPlace, "Whether the load balancer is public, or has an address of a subnet.", private, annotations.Plain(annotations.Enum(public, private), annotations.Refused, public, sourceOpen)), annotations.ToInternet)
	openSubnetKey = annotations.Needing(annotations.Identifier(opened+"type-internal-subnet-id", groupPlace, annotations.ThingSubnet, "subnet-", "Subnet of a private load balancer.", "subnet-k57djpow", annotations.Refused, "none", sourceOpen), annotations.Need{openTypeKey.Is(private)})
	openKindKey   = &annotations.Key[string]{
		Name: opened + "kind", Group: groupPlace, Names: annotations.NamesNothing(), Example: application, Doc: "Kind of load balancer; classic ones can no longer be created.",
		Forms: annotations.PlainForms(annotations.Custom("kind", application, parseKind), annotations.Refused, application, sourceOpen),
	}
	typeKey = &annotations.Key[string]{
		Name: kube + "loadbalance-type", Group: groupPlace, Names: annotations.NamesNothing(), Example: "yunapiv3_forward_clb", Doc: "Kind of load balancer; classic ones can no longer be created.",
		Forms: annotations.PlainForms(annotations.Custom("kind", "yunapiv3_forward_clb or application", parseKind), annotations.Refused, "yunapiv3_forward_clb", sourceDoc),
	}
	nameKey = &annotations.Key[string]{
		Name: opened + "name", Group: groupPlace, Names: annotations.NamesNothing(), Example: "shop-web", Doc: "Name of a new load balancer. It says nothing about its owner.",
		Forms: annotations.PlainForms(annotations.Custom("name", fmt.Sprintf("1 to %d characters", longestName), parseName), annotations.IgnoredAfterCreation, "<cluster id>_<namespace>_<name>", sourceOpen),
	}
	chargeKey = onInternet(&annotations.Key[string]{
		Name: kube + "qcloud-loadbalancer-internet-charge-type", Aliases: []string{"kubernetes.io/service.internetChargeType"}, Group: groupPlace, Example: "TRAFFIC_POSTPAID_BY_HOUR",
		Doc:   "How the traffic of a new public load balancer is paid.",
		Forms: annotations.PlainForms(annotations.Enum("TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR"), annotations.IgnoredAfterCreation, "that of the account", sourceDoc),
	})
	bandwidthKey = onInternet(&annotations.Key[int]{
		Name: kube + "qcloud-loadbalancer-internet-max-bandwidth-out", Aliases: []string{"kubernetes.io/service.internetMaxBandwidthOut"}, Group: groupPlace, Example: "10",
		Doc:   "Bandwidth of a new public load balancer, in Mbit/s.",
		Forms: annotations.PlainForms(annotations.IntRange(1, 61440), annotations.IgnoredAfterCreation, "10", sourceDoc),
	})
	extensiveKey = &annotations.Key[Parameters]{
		Name: kube + "service.extensiveParameters", Names: annotations.NamesNothing(), Group: groupPlace, Example: `{"VipIsp":"CTCC"}`,
		Doc:   "More parameters of the call that creates the load balancer, as a JSON object.",
		Forms: annotations.PlainForms(annotations.Custom("parameters", "a JSON object with parameters of CreateLoadBalancer", parseExtensive), annotations.IgnoredAfterCreation, "none", sourceDoc),
	}
	snatKey = &annotations.Key[Snat]{
		Name: cloud + "snat-pro-info", Group: groupPlace, Names: annotations.NamesBy(annotations.ThingSubnet, func(s Snat) []string { return s.subnets() }), Example: `{"snatIps":[{"subnetId":"subnet-k57djpow"}]}`,
		Doc:   "Addresses from which a new load balancer reaches targets outside of its VPC.",
		Forms: annotations.PlainForms(annotations.JSONOf("a JSON object with snatIps, each with a subnetId", checkSnat), annotations.IgnoredAfterCreation, "none", sourceSample),
	}
	crossKey   = annotations.Identifier(cloud+"cross-vpc-id", groupPlace, annotations.ThingNetwork, "vpc-", "Network of the load balancer, in the region of the cluster or in that of "+cloud+"cross-region-id. Nodes and pods are targets by their addresses.", "vpc-mjekzyps", annotations.Refused, "the network of the cluster", sourceCross)
	regionsKey = &annotations.Key[string]{
		Name: cloud + "cross-region-id", Names: annotations.NamesNothing(), Group: groupPlace, Example: "ap-guangzhou", Doc: "Region of the load balancer. Nodes and pods are targets by their addresses, over a Cloud Connect Network.",
		Forms: annotations.PlainForms(annotations.Custom("region", "the id of a region, such as ap-guangzhou", parseRegion), annotations.Refused, "the region of the cluster", sourceCross),
	}
)

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{
		existedKey, modeKey, subnetKey, openTypeKey, openSubnetKey, openKindKey, typeKey, nameKey, chargeKey, bandwidthKey, extensiveKey, snatKey, crossKey, regionsKey,
	}
}

func onDelete[T any](k *annotations.Key[T]) *annotations.Key[T] {
	k.OnDelete = true
	return k
}

func onInternet[T any](k *annotations.Key[T]) *annotations.Key[T] {
	return annotations.Needing(k, annotations.Need{annotations.Neither("a public load balancer of the Service's own", subnetKey.IsSet(), openTypeKey.Is(private), existedKey.IsSet())})
}

func parseKind(raw string) (string, error) {
	switch raw {
	case application, "yunapiv3_forward_clb":
		return application, nil
	case classic, "yunapi_clb":
		return "", errors.New("asks for a classic load balancer, which the API does not create any more")
	}
	return "", errors.New("is not a kind")
}

func parseName(raw string) (string, error) {
	if n := len([]rune(raw)); n > longestName {
		return "", fmt.Errorf("has %d characters", n)
	}
	return raw, nil
}

// Parameters are parameters of a call.
type Parameters struct {
	Values map[string]any
	text   string
}

// String returns the parameters as the user wrote them.
func (p Parameters) String() string { return p.text }

// kindOf names the form of a JSON value.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case float64:
		return "number"
	case bool:
		return "switch"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "null"
}

// extensiveForms are the parameters of CreateLoadBalancer that a Service may set, with their forms.
// Source: CLB API 2018-03-17, CreateLoadBalancer.
func extensiveForms() map[string]string {
	return map[string]string{
		"AddressIPVersion": "text", "VipIsp": "text", "ZoneId": "text", "MasterZoneId": "text", "SlaveZoneId": "text", "Vip": "text", "LoadBalancerName": "text", "SlaType": "text",
		"InternetAccessible": "object", "BandwidthPackageId": "text", "Tags": "list", "ProjectId": "number", "SubnetId": "text", "EipAddressId": "text", "Zones": "list",
		"ExclusiveCluster": "object", "ClusterIds": "list", "ClusterTag": "text", "Egress": "text", "DynamicVip": "switch", "LoadBalancerPassToTarget": "switch", "SnatPro": "switch", "SnatIps": "list",
	}
}

// reservedParameters are parameters that tell whose a load balancer is, and that only the controller sets.
func reservedParameters() []string {
	return []string{"VpcId", "ClientToken", "Number", "LoadBalancerType", "Forward", "LBChargeType", "LBChargePrepaid"}
}

func parseExtensive(raw string) (Parameters, error) {
	return parseParameters(raw, extensiveForms(), reservedParameters())
}

// parseParameters reads a JSON object whose members are known.
func parseParameters(raw string, forms map[string]string, own []string) (Parameters, error) {
	out := Parameters{text: raw}
	if err := json.Unmarshal([]byte(raw), &out.Values); err != nil {
		return Parameters{}, fmt.Errorf("is not a JSON object: %w", err)
	}
	if out.Values == nil {
		return Parameters{}, errors.New("is not a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(out.Values)) {
		want, known := forms[name]
		switch got := kindOf(out.Values[name]); {
		case slices.Contains(own, name):
			return Parameters{}, fmt.Errorf("has %s, which the controller sets", name)
		case !known:
			return Parameters{}, fmt.Errorf("has %s, which is not a parameter; legal are %s", name, strings.Join(slices.Sorted(maps.Keys(forms)), ", "))
		case got != want:
			return Parameters{}, fmt.Errorf("has a %s for %s, which is a %s", got, name, want)
		}
	}
	return out, nil
}

// Snat are the addresses of a load balancer in other networks.
type Snat struct {
	Addresses []SnatAddress `json:"snatIps"`
}

// SnatAddress is one of them; without an address the cloud chooses it.
type SnatAddress struct {
	Subnet  string `json:"subnetId"`
	Address string `json:"ip"`
}

func (s Snat) subnets() []string {
	var out []string
	for _, a := range s.Addresses {
		out = append(out, a.Subnet)
	}
	return out
}

func checkSnat(s Snat) error {
	for _, a := range s.Addresses {
		if !strings.HasPrefix(a.Subnet, "subnet-") {
			return errors.New("has an address without a subnetId")
		}
	}
	return nil
}
