package oci

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// networkProduct returns the Network Load Balancer service. Source: API reference,
// version 20200501.
func networkProduct() product {
	p := product{
		api: apiNLB, table: networkLBs, work: workNLB, noun: "NetworkLoadBalancer", what: "network load balancer", path: pathNLB + "networkLoadBalancers",
		quota: "network-load-balancer-api/max-nlb-flexible-count", accepted: http.StatusAccepted, place: (*visit).placeNetwork, move: (*visit).moveNetwork,
		limits: func(l Limits) balancerLimits {
			return balancerLimits{l.NetworkLoadBalancers, l.NetworkListeners, l.NetworkBackendSets, l.NetworkBackends, unlimited}
		},
		parts: []part{networkSetPart(), networkListenerPart()},
		update: tagSchema().with(schema{
			"displayName": prop{kind: aText, min: 1, max: 1024}, "nlbIpVersion": oneOf("IPV4", "IPV4_AND_IPV6", "IPV6"), "isPreserveSourceDestination": boolProp(),
			"isSymmetricHashEnabled": boolProp(), "subnetIpv6Cidr": textProp(), "assignedIpv6": textProp(), "reservedIpv6Id": idProp(),
		}),
	}
	p.create = p.update.with(schema{
		"compartmentId": idProp().must(), "displayName": prop{kind: aText, need: true, min: 1, max: 1024}, "subnetId": idProp().must(), "isPrivate": boolProp().otherwise(true),
		"nlbIpVersion": oneOf("IPV4", "IPV4_AND_IPV6", "IPV6").otherwise("IPV4"), "networkSecurityGroupIds": idsProp(), "reservedIps": listProp(objectProp(schema{"id": idProp()})),
		"assignedPrivateIpv4": textProp(), "isPreserveSourceDestination": boolProp().otherwise(false), "isSymmetricHashEnabled": boolProp().otherwise(false),
	})
	delete(p.create, "reservedIpv6Id")
	for _, of := range p.parts {
		p.create[of.key] = mapOf(of.body.with(schema{of.name: textProp()}))
	}
	return p
}

// addressOptions lists properties of a body that choose addresses; they are not part of
// a load balancer.
func addressOptions() []string { return []string{"assignedPrivateIpv4", "assignedIpv6"} }

func (v *visit) placeNetwork(lb, body rest.Object) (rest.Object, error) {
	in, err := v.checkSubnets([]string{body.Text("subnetId")}, true)
	if err != nil {
		return nil, err
	}
	if !body.Truth("isPrivate") && in[0].Truth("prohibitPublicIpOnVnic") {
		return nil, invalidParam("subnet %s is private, and the network load balancer is public", in[0].Text("id"))
	}
	if err := v.checkGroups(body.Texts("networkSecurityGroupIds"), in[0].Text("vcnId")); err != nil {
		return nil, err
	}
	lb = lb.With(body.Only("subnetId", "isPrivate", "nlbIpVersion", "isPreserveSourceDestination", "isSymmetricHashEnabled"))
	return v.addressNetwork(lb, body, body.Objects("reservedIps"))
}

func (v *visit) addressNetwork(lb, body rest.Object, reserved []rest.Object) (rest.Object, error) {
	versions := addressFamilies(lb.Text("nlbIpVersion"))
	if lb.Text("nlbIpVersion") == "IPV6" {
		versions = []string{"IPV6"}
	}
	lb, err := v.readdress(lb.With(body.Only(addressOptions()...)), versions, reserved)
	if err != nil {
		return nil, err
	}
	return lb.Without(addressOptions()...), nil
}

// moveNetwork changes the IP version. Source: Network Load Balancer documentation, "IPv6":
// a version that a listener or backend set uses cannot go.
func (v *visit) moveNetwork(lb, body rest.Object) (rest.Object, error) {
	next := lb.With(body.Only("nlbIpVersion", "isPreserveSourceDestination", "isSymmetricHashEnabled"))
	for _, key := range []string{"listeners", "backendSets"} {
		for name := range next.Object(key) {
			if of := next.Object(key).Object(name).Text("ipVersion"); !hasVersion(next, of) {
				return nil, invalidParam("nlbIpVersion: %s %q has the version %s", key, name, of)
			}
		}
	}
	var reserved []rest.Object
	if id := body.Text("reservedIpv6Id"); id != "" {
		reserved = append(reserved, rest.Object{"id": id})
	}
	return v.addressNetwork(next, body, reserved)
}

func hasVersion(lb rest.Object, version string) bool {
	return slices.Contains(strings.Split(lb.Text("nlbIpVersion"), "_AND_"), version)
}

// networkSetPart is the backend sets. Source: API reference, BackendSetDetails and
// UpdateBackendSetDetails: what a change leaves out stays.
func networkSetPart() part {
	backend := schema{
		"name": textProp(), "ipAddress": textProp(), "targetId": textProp(), "port": numberProp(0, 65535).must(), "weight": numberProp(0, 100).otherwise(1.0),
		"isBackup": boolProp().otherwise(false), "isDrain": boolProp().otherwise(false), "isOffline": boolProp().otherwise(false),
	}
	checker := schema{
		"protocol": oneOf("HTTP", "HTTPS", "TCP", "UDP", "DNS").must(), "port": numberProp(0, 65535).otherwise(0.0), "retries": numberProp(1, 1000).otherwise(3.0),
		"timeoutInMillis": numberProp(1, 600000).otherwise(3000.0), "intervalInMillis": numberProp(10000, 1800000).otherwise(10000.0), "urlPath": textProp(), "responseBodyRegex": textProp(),
		"returnCode": numberProp(0, 599), "requestData": textProp(), "responseData": textProp(), "dns": freeProp(),
	}
	set := schema{
		"policy": oneOf("TWO_TUPLE", "THREE_TUPLE", "FIVE_TUPLE").otherwise("FIVE_TUPLE"), "healthChecker": objectProp(checker).must(), "backends": listProp(objectProp(backend)).otherwise([]any{}),
		"isPreserveSource": boolProp().otherwise(true), "isFailOpen": boolProp().otherwise(false), "isInstantFailoverEnabled": boolProp().otherwise(false),
		"isInstantFailoverTcpResetEnabled": boolProp().otherwise(true), "areOperationallyActiveBackendsPreferred": boolProp().otherwise(false), "ipVersion": oneOf("IPV4", "IPV6").otherwise("IPV4"),
	}
	return part{
		key: "backendSets", name: "name", op: "BackendSet", label: nameProp(32), body: set, update: set.optional(), patch: true,
		prepare: prepareNetworkSet, used: usedSet,
	}
}

func prepareNetworkSet(v *visit, lb, o rest.Object) (rest.Object, error) {
	if !hasVersion(lb, o.Text("ipVersion")) {
		return nil, invalidParam("backend set %q: the network load balancer has no address of %s", o.Text("name"), o.Text("ipVersion"))
	}
	checker := o.Object("healthChecker")
	if err := checkChecker(checker); err != nil {
		return nil, err
	}
	if checker.Text("protocol") == "UDP" && checker.Text("requestData") == "" {
		return nil, invalidParam("backend set %q: a health check by UDP needs requestData", o.Text("name"))
	}
	backends := []any{}
	seen := map[string]bool{}
	for _, b := range o.Objects("backends") {
		b, err := v.backend(b, o.Text("ipVersion"))
		if err != nil {
			return nil, err
		}
		port, _ := b.Number("port")
		at := b.Text("ipAddress") + ":" + strconv.Itoa(port)
		if seen[at] {
			// Source: oracle/terraform-provider-oci issue 1593.
			return nil, alreadyExists("Conflict. For nlb-id %s Duplicate backend IP/id + port combinations not allowed: %s", lb.Text("id"), at)
		}
		seen[at] = true
		backends = append(backends, b)
	}
	return o.With(rest.Object{"backends": backends}), nil
}

// backend gives a backend its name and its address. One that is an instance or a private
// address has the address of that too. Sources: API reference, Backend.targetId;
// oracle/terraform-provider-oci issue 2267 for an unknown one.
func (v *visit) backend(b rest.Object, version string) (rest.Object, error) {
	port, _ := b.Number("port")
	target, name := b.Text("targetId"), b.Text("ipAddress")
	if target != "" {
		name = target
		found, err := v.addressOf(target)
		if err != nil {
			return nil, err
		}
		if given := b.Text("ipAddress"); given != "" && given != found {
			return nil, invalidParam("backend: %s has not the address %s", target, given)
		}
		b = b.With(rest.Object{"ipAddress": found})
	}
	a, err := parseAddress(b, "ipAddress")
	if err != nil {
		return nil, err
	}
	if a.Is4() != (version == "IPV4") {
		return nil, invalidParam("backend %s: the backend set is of %s", a, version)
	}
	return b.With(rest.Object{"name": name + ":" + strconv.Itoa(port), "ipAddress": a.String()}), nil
}

// addressOf is the address of an instance or of a private IP.
func (v *visit) addressOf(target string) (string, error) {
	if o, ok := v.State.Get(privateIPs, target); ok {
		return o.Text("ipAddress"), nil
	}
	for _, a := range v.State.All(attachments, rest.Where("instanceId", target)) {
		if vnic, ok := v.State.Get(vnics, a.Text("vnicId")); ok && vnic.Truth("isPrimary") {
			return vnic.Text("privateIp"), nil
		}
	}
	return "", invalidParam("Invalid backend OCID %s", target)
}

// networkListenerPart is the listeners. Source: API reference, ListenerDetails and
// UpdateListenerDetails.
func networkListenerPart() part {
	listener := schema{
		"defaultBackendSetName": textProp().must(), "port": numberProp(0, 65535).must(), "protocol": oneOf("ANY", "TCP", "UDP", "TCP_AND_UDP", "L3IP").must(),
		"ipVersion": oneOf("IPV4", "IPV6").otherwise("IPV4"), "isPpv2Enabled": boolProp().otherwise(false),
		"tcpIdleTimeout": numberProp(1, 3600), "udpIdleTimeout": numberProp(1, 3600), "l3IpIdleTimeout": numberProp(1, 3600),
	}
	return part{key: "listeners", name: "name", op: "Listener", label: nameProp(255), body: listener, update: listener.optional(), patch: true, prepare: prepareNetworkListener}
}

// prepareNetworkListener refuses what does not fit. Port 0 is of the protocol ANY.
// Source: Network Load Balancer documentation, "Listener Management".
func prepareNetworkListener(_ *visit, lb, o rest.Object) (rest.Object, error) {
	name := o.Text("name")
	set := lb.Object("backendSets").Object(o.Text("defaultBackendSetName"))
	if set == nil {
		return nil, invalidParam("listener %q: there is no backend set %q", name, o.Text("defaultBackendSetName"))
	}
	if set.Text("ipVersion") != o.Text("ipVersion") {
		return nil, invalidParam("listener %q is of %s, and its backend set of %s", name, o.Text("ipVersion"), set.Text("ipVersion"))
	}
	if !hasVersion(lb, o.Text("ipVersion")) {
		return nil, invalidParam("listener %q: the network load balancer has no address of %s", name, o.Text("ipVersion"))
	}
	if port, _ := o.Number("port"); (port == 0) != (o.Text("protocol") == "ANY" || o.Text("protocol") == "L3IP") {
		return nil, invalidParam("listener %q: port %d does not fit the protocol %s", name, port, o.Text("protocol"))
	}
	return o, nil
}
