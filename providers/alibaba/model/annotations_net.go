package model

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// sourceNet is where keys are read for network load balancers.
const sourceNet = "kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2"

// onClassic declares that a key is of classic load balancers only.
func onClassic[T any](k *annotations.Key[T]) *annotations.Key[T] {
	k.Forms[0].Kinds = []string{CLB}
	return k
}

// onBoth adds the meaning of a key for network load balancers. It is the one for classic ones, except
// for what change sets.
func onBoth[T any](k *annotations.Key[T], change func(*annotations.Form[T])) *annotations.Key[T] {
	form := k.Forms[0]
	form.Needs, form.Source, form.Doc = nil, sourceNet, ""
	change(&form)
	form.Kinds = []string{NLB}
	onClassic(k)
	k.Forms = append(k.Forms, form)
	return k
}

// onNetwork declares that a key is of network load balancers only.
func onNetwork[T any](k *annotations.Key[T]) *annotations.Key[T] {
	k.Forms[0].Kinds, k.Forms[0].Source = []string{NLB}, sourceNet
	return k
}

// switchKey declares a key of network load balancers that is on or off, in any case.
func switchKey(name, doc, standard string) *annotations.Key[string] {
	k := onNetwork(wordKey(name, groupNLB, annotations.InPlace, doc, standard, on, off))
	k.Forms[0].Type = annotations.EnumFold(on, off)
	return annotations.Staying(k)
}

// anyCase accepts words in any case.
func anyCase(words ...string) func(*annotations.Form[string]) {
	return func(f *annotations.Form[string]) { f.Type = annotations.EnumFold(words...) }
}

// onCheck is a health check setting of server groups, which needs the health check switched on.
func onCheck[T any](change func(*annotations.Form[T])) func(*annotations.Form[T]) {
	return func(f *annotations.Form[T]) {
		change(f)
		f.Needs = []annotations.Need{{healthFlagKey.Is(on)}}
	}
}

// asClassic leaves a form as it is for classic load balancers.
func asClassic[T any](*annotations.Form[T]) {}

// inRange sets the range and the default of a number.
func inRange(lowest, highest int, standard string) func(*annotations.Form[int]) {
	return func(f *annotations.Form[int]) { f.Type, f.DefaultDoc = annotations.IntRange(lowest, highest), standard }
}

// Keys of network load balancers.
var (
	zonesKey = &annotations.Key[[]Zone]{
		Name: prefix + "zone-maps", Aliases: []string{oldPrefix + "zone-maps"}, EmptyHides: true, Names: annotations.NamesBy(annotations.ThingSubnet, vswitchesOfZones), Group: groupNLB, Example: "cn-hangzhou-k:vsw-i123456,cn-hangzhou-j:vsw-j654321",
		Doc: "Zones and vSwitches of the load balancer, each with a private address and an elastic IP address if wanted.",
		Forms: []annotations.Form[[]Zone]{{
			Kinds: []string{NLB}, Type: annotations.Custom("zones", "zones and vSwitches, separated by commas: zone:vSwitch[:address[:id of an elastic IP]]", parseZones), DefaultDoc: "none: the key is required",
			Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Removal: annotations.Stays, Source: sourceNet, Doc: "Zones of a live load balancer that are not listed stay.",
		}},
	}
	securityKey = annotations.Limiting(&annotations.Key[string]{
		Name: prefix + "security-group-ids", Aliases: []string{oldPrefix + "security-group-ids"}, Names: annotations.NamesBy(annotations.ThingSecurityGroup, SplitIDs), Group: groupNLB, Example: "sg-bp1abc,sg-bp1def",
		Doc: "Security groups of the load balancer. An empty value removes all.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{NLB}, Type: annotations.Custom("groups", "ids of security groups, separated by commas, or an empty text", parseList), DefaultDoc: "those of a live load balancer stay", Empty: annotations.EmptyParsed,
			Change: annotations.InPlace, Removal: annotations.Stays, Source: sourceNet,
		}},
	}, "")
	packageKey = &annotations.Key[string]{
		Name: prefix + "bandwidth-package-id", Aliases: []string{oldPrefix + "bandwidth-package-id"}, Names: annotations.NamesThe(annotations.ThingAddress), Group: groupNLB, Example: "cbwp-bp1vevu8h3ieh",
		Doc: "Common bandwidth package of a public load balancer. An empty value detaches it.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{NLB}, Type: annotations.String().Legally("the id of a common bandwidth package, or an empty text"), DefaultDoc: "that of a live load balancer stays", Empty: annotations.EmptyParsed,
			Change: annotations.InPlace, Removal: annotations.Stays, Source: sourceNet,
		}},
	}
	ipv6TypeKey = annotations.Limiting(annotations.Exposing(annotations.Needing(annotations.Staying(onNetwork(&annotations.Key[string]{
		Name: prefix + "ipv6-address-type", Aliases: []string{oldPrefix + "ipv6-address-type"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupNLB, Example: internet,
		Doc:   "Whether the IPv6 address of a load balancer with both families is public.",
		Forms: []annotations.Form[string]{{Type: annotations.EnumFold(internet, intranet), DefaultDoc: intranet, Empty: annotations.EmptyAbsent, Change: annotations.InPlace}},
	})), annotations.Need{ipVersionKey.Is(netDualStack)}), annotations.ToInternet), internet)
	crossZoneKey = switchKey("cross-zone-enabled", "Sends traffic to backends of other zones.", cloudChooses)

	caKey         = switchKey("cacert", "Switches mutual authentication of TCPSSL listeners on.", off)
	caListKey     = annotations.Staying(onNetwork(textKey("cacert-id", groupNLB, annotations.NamesBy(annotations.ThingCertificate, SplitIDs), annotations.Custom("certificates", "ids of CA certificates, separated by commas", parseIDs), annotations.InPlace, "1ef8b3f2-cn-hangzhou", "CA certificates of TCPSSL listeners.", "none")))
	cpsKey        = annotations.Staying(onNetwork(numberKey("cps", groupNLB, "1000", "New connections per second of each listener; 0 is unlimited.", 0, 1000000, "unlimited")))
	alpnKey       = switchKey("alpn", "Switches ALPN of TCPSSL listeners on.", off)
	alpnPolicyKey = annotations.Staying(annotations.Needing(onNetwork(wordKey("alpn-policy", groupNLB, annotations.InPlace, "Policy of ALPN of TCPSSL listeners.", "none", "HTTP1Only", "HTTP2Only", "HTTP2Preferred", "HTTP2Optional")), annotations.Need{alpnKey.Is(on)}))
	moreCertsKey  = &annotations.Key[string]{
		Name: prefix + "additional-cert-ids", Aliases: []string{oldPrefix + "additional-cert-ids"}, Names: annotations.NamesBy(annotations.ThingCertificate, SplitIDs), Group: groupNLB, Example: "1ef8b3f2-cn-hangzhou,1ef8b3f3-cn-hangzhou",
		Doc: "More certificates of TCPSSL listeners. An empty value removes all.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{NLB}, Type: annotations.Custom("certificates", "ids of certificates, separated by commas, or an empty text", parseList), DefaultDoc: "those of a live listener stay", Empty: annotations.EmptyParsed,
			Change: annotations.InPlace, Removal: annotations.Stays, Source: sourceNet,
		}},
	}
	endpointKey = onProxy(switchKey("ppv2-pvl-ep-id-enabled", "Sends the id of the endpoint of PrivateLink in the PROXY protocol.", off))
	serviceKey  = onProxy(switchKey("ppv2-pvl-eps-id-enabled", "Sends the id of the endpoint service of PrivateLink in the PROXY protocol.", off))
	networkKey  = onProxy(switchKey("ppv2-pvl-vpc-id-enabled", "Sends the id of the VPC in the PROXY protocol.", off))
	rangesKey   = annotations.Needing(&annotations.Key[map[int32]PortRange]{
		Name: prefix + "listener-port-range", Aliases: []string{oldPrefix + "listener-port-range"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupNLB, Example: "2000-3000:80",
		Doc: "Listens at ranges of ports in place of ports of the Service. Pods are reached at the port of the client.",
		Forms: []annotations.Form[map[int32]PortRange]{{
			Kinds: []string{NLB}, Type: annotations.Custom("ranges", "ranges of ports, each with a port of the Service, separated by commas: 2000-3000:80", parsePortRanges), DefaultDoc: "none",
			Empty: annotations.EmptyAbsent, Change: annotations.Brief, Source: sourceNet,
		}},
	}, annotations.Need{typeOfBackendsKey.Is(ServerENI), annotations.Setting(settingBackends, ServerENI)})
	clientIPKey  = switchKey("preserve-client-ip", "Keeps the addresses of clients on the way to backends.", on)
	groupTypeKey = &annotations.Key[string]{
		Name: prefix + "server-group-type", Aliases: []string{oldPrefix + "server-group-type"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupNLB, Example: "ip",
		Doc: "Whether backends are instances and network interfaces, or addresses.",
		Forms: []annotations.Form[string]{{
			Kinds: []string{NLB}, Type: annotations.EnumFold("instance", ServerIP), Default: "instance", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceNet,
		}},
	}
	healthVersionKey = annotations.Staying(annotations.Needing(onNetwork(wordKey("health-check-http-version", groupNLB, annotations.InPlace, "Version of HTTP of health checks.", "HTTP1.0", "HTTP1.1", "HTTP1.0")), annotations.Need{healthFlagKey.Is(on)}))
)

func onProxy(k *annotations.Key[string]) *annotations.Key[string] {
	return annotations.Needing(k, annotations.Need{proxyKey.Is(true)})
}

// networkKeys are the keys that only network load balancers have.
func networkKeys() []annotations.Declaration {
	out := []annotations.Declaration{zonesKey, securityKey, packageKey, ipv6TypeKey, crossZoneKey, moreCertsKey, rangesKey, groupTypeKey, onNetwork(annotations.SourceRanges(groupNLB, sourceNet))}
	for _, s := range slices.Concat(netListenerSettings(), netGroupSettings()) {
		if !slices.ContainsFunc(listenerSettings(), func(other setting) bool { return other.key == s.key }) {
			out = append(out, s.key)
		}
	}
	return out
}

// netSetting returns a setting that is a parameter of the NLB API.
func netSetting[T any](key *annotations.Key[T], param string, text func(T) string, of ...string) setting {
	return setting{key: key, param: param, of: of, read: func(b *annotations.Bag) (string, annotations.Origin, bool) {
		value, origin, given := key.Lookup(b)
		return text(value), origin, given
	}}
}

func plainText[T any](value T) string { return fmt.Sprint(value) }
func switchText(value string) string  { return strconv.FormatBool(strings.EqualFold(value, on)) }
func upperText(value string) string   { return strings.ToUpper(value) }

// Parameters of health checks have this prefix, and those of the PROXY protocol the other one.
const (
	paramHealth = "HealthCheckConfig."
	paramProxy  = "ProxyProtocolV2Config."
	// Lists of certificates.
	paramCertificates = "CertificateIds"
	paramCAs          = "CaCertificateIds"
)

// netListenerSettings is the table of keys that are parameters of listeners of network load balancers.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2/listeners.go.
func netListenerSettings() []setting {
	all := netProtocols()
	return []setting{
		netSetting(idleKey, "IdleTimeout", plainText, all...),
		netSetting(cpsKey, "Cps", plainText, all...),
		netSetting(proxyKey, "ProxyProtocolEnabled", plainText, all...),
		netSetting(endpointKey, paramProxy+"Ppv2PrivateLinkEpIdEnabled", switchText, all...),
		netSetting(serviceKey, paramProxy+"Ppv2PrivateLinkEpsIdEnabled", switchText, all...),
		netSetting(networkKey, paramProxy+"Ppv2VpcIdEnabled", switchText, all...),
		netSetting(certificateKey, paramCertificates, plainText, netTCPSSL),
		netSetting(cipherKey, "SecurityPolicyId", plainText, netTCPSSL),
		netSetting(caKey, "CaEnabled", switchText, netTCPSSL),
		netSetting(caListKey, paramCAs, plainText, netTCPSSL),
		netSetting(alpnKey, "AlpnEnabled", switchText, netTCPSSL),
		onlyWith(isOn(alpnKey), netSetting(alpnPolicyKey, "AlpnPolicy", plainText, netTCPSSL)),
	}
}

// netGroupSettings is the table of keys that are parameters of server groups.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/service/nlbv2/server_groups.go.
func netGroupSettings() []setting {
	return []setting{
		netSetting(schedulerKey, "Scheduler", plainText),
		netSetting(drainKey, "ConnectionDrainEnabled", switchText),
		onlyWith(func(b *annotations.Bag) bool { _, _, given := drainKey.Lookup(b); return given }, netSetting(drainTimeoutKey, "ConnectionDrainTimeout", plainText)),
		netSetting(clientIPKey, "PreserveClientIpEnabled", switchText),
		netSetting(healthFlagKey, paramHealth+"HealthCheckEnabled", switchText),
		netSetting(healthTypeKey, paramHealth+"HealthCheckType", upperText),
		netSetting(healthURIKey, paramHealth+"HealthCheckUrl", plainText),
		netSetting(healthPortKey, paramHealth+"HealthCheckConnectPort", plainText),
		netSetting(healthyKey, paramHealth+"HealthyThreshold", plainText),
		netSetting(unhealthyKey, paramHealth+"UnhealthyThreshold", plainText),
		netSetting(intervalKey, paramHealth+"HealthCheckInterval", plainText),
		netSetting(connectTimeoutKey, paramHealth+"HealthCheckConnectTimeout", plainText),
		netSetting(healthDomainKey, paramHealth+"HealthCheckDomain", plainText),
		netSetting(healthCodesKey, paramHealth+"HealthCheckHttpCode", plainText),
		netSetting(healthMethodKey, paramHealth+"HttpCheckMethod", upperText),
		netSetting(healthVersionKey, paramHealth+"HealthCheckHttpVersion", plainText),
	}
}

func netProtocols() []string { return []string{netTCP, netUDP, netTCPSSL} }

// PortRange is a range of ports.
type PortRange struct{ First, Last int32 }

func (r PortRange) overlaps(other PortRange) bool {
	return r.First <= other.Last && other.First <= r.Last
}

// parseZones reads zones in order.
func parseZones(raw string) ([]Zone, error) {
	var out []Zone
	for item := range strings.SplitSeq(raw, ",") {
		parts := append(strings.Split(strings.TrimSpace(item), ":"), "", "")
		if len(parts) < 4 || len(parts) > 6 || parts[0] == "" || parts[1] == "" {
			return nil, fmt.Errorf("has %q, which is not a zone and a vSwitch", item)
		}
		z := Zone{Zone: parts[0], VSwitch: parts[1], Private: parts[2], Public: parts[3]}
		if a, err := netip.ParseAddr(z.Private); z.Private != "" && (err != nil || !a.Is4()) {
			return nil, fmt.Errorf("has %q, which is not an IPv4 address", z.Private)
		}
		if slices.ContainsFunc(out, func(o Zone) bool { return o.Zone == z.Zone }) {
			return nil, fmt.Errorf("has the zone %s twice", z.Zone)
		}
		out = append(out, z)
	}
	return out, nil
}

func vswitchesOfZones(zones []Zone) []string {
	var out []string
	for _, z := range zones {
		out = append(out, z.VSwitch)
	}
	return out
}

// parseList returns ids as [parseIDs] does, and none for an empty text.
func parseList(raw string) (string, error) {
	if strings.TrimSpace(raw) == "" {
		return "", nil
	}
	return parseIDs(raw)
}

// parseOrdered returns ids in the order of the user: the first certificate is the default one.
func parseOrdered(raw string) (string, error) {
	var out []string
	for id := range strings.SplitSeq(raw, ",") {
		if id = strings.TrimSpace(id); id == "" || strings.ContainsAny(id, " \t") {
			return "", errors.New("has an item that is not an id")
		}
		out = append(out, id)
	}
	return strings.Join(out, ","), nil
}

// parsePortRanges reads ranges by the port of the Service.
func parsePortRanges(raw string) (map[int32]PortRange, error) {
	out := map[int32]PortRange{}
	err := splitPairs(raw, func(left, right string) error {
		first, last, ok := strings.Cut(left, "-")
		from, err := parsePort(first)
		to, err2 := parsePort(last)
		port, err3 := parsePort(right)
		switch {
		case !ok || err != nil || err2 != nil || from >= to:
			return fmt.Errorf("has %q, which is not a range of ports", left)
		case err3 != nil:
			return err3
		case out[port] != PortRange{}:
			return fmt.Errorf("has two ranges for the port %d", port)
		}
		out[port] = PortRange{from, to}
		return nil
	})
	return out, err
}

// parseNetProtocols reads protocols by port.
func parseNetProtocols(raw string) (map[int32]string, error) {
	return readProtocols(raw, func(protocol string) (string, bool) {
		protocol = strings.ToUpper(protocol)
		return protocol, slices.Contains(netProtocols(), protocol)
	})
}

// longestNetName is how long the name of a network load balancer may be.
const longestNetName = 128

func parseNetName(raw string) (string, error) {
	if n := len([]rune(raw)); n < 2 || n > longestNetName {
		return "", fmt.Errorf("has %d characters", n)
	}
	return raw, nil
}
