package gce_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim/gce/simtest"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// l4 writes into a simulator the resources that the L4 controllers of ingress-gce
// create, independently of Berth's code.
// Source: kubernetes/ingress-gce:pkg/l4, pkg/utils/namer, as of August 2026.
type l4 struct {
	t       *testing.T
	running *simtest.Running
	// What its flags are called by.
	negs, deny, l3, discrete bool
}

const (
	l4Project = "berth-demo"
	l4Region  = l4Project + "/regions/us-central1"
	l4System  = "11111111-2222-3333-4444-555555555555" // UID of the namespace kube-system
	l4Groups  = "k8s-ig--0123456789abcdef"
)

// call makes one call and returns its answer.
func (w *l4) call(method, path string, parameters wire.Object) wire.Object {
	w.t.Helper()
	body, err := json.Marshal(parameters)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.running.URL+"/compute/v1/projects/"+path, strings.NewReader(string(body)))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%s %s %s: %s %s %v", method, path, body, answer.Status, said, err)
	}
	if err := answer.Body.Close(); err != nil {
		w.t.Fatal(err)
	}
	var out wire.Object
	if err := json.Unmarshal(said, &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *l4) insert(collection string, doc wire.Object) { w.call(http.MethodPost, collection, doc) }

func (w *l4) url(path string) string { return wire.SelfBase + "projects/" + path }

// sumPrefix returns the first letters of a checksum, as names have them.
func sumPrefix(text string) string {
	sum, out := sha256.Sum256([]byte(text)), ""
	for _, b := range sum[:8] {
		out += string("0123456789abcdefghijklmnopqrstuvwxyz"[b%36])
	}
	return out
}

// fitName shortens namespace and name to so many characters.
func fitName(most int, parts ...string) string {
	total := 0
	for _, p := range parts {
		total += len(p)
	}
	if excess := total - most; excess > 0 {
		left := most
		lengths := make([]int, len(parts))
		for i, p := range parts {
			lengths[i] = len(p) - len(p)*excess/total - 1
			left -= lengths[i]
		}
		for i := range parts {
			if left > 0 {
				lengths[i]++
				left--
			}
			parts[i] = parts[i][:lengths[i]]
		}
	}
	return strings.Join(parts, "-")
}

// name is that of the newer scheme, with what may stand before and behind it.
func (w *l4) name(svc *corev1.Service, before, behind string) string {
	cluster := sumPrefix(l4System)
	most := 39
	if before != "" {
		before, most = before+"-", 39-len(before)-1
	}
	if behind != "" {
		most = 40 - len(behind) // the hash is never cut, and a name has 63 characters
	}
	return "k8s2-" + before + cluster + "-" + fitName(most, svc.Namespace, svc.Name) + "-" + sumPrefix(strings.Join([]string{cluster, svc.Namespace, svc.Name}, ";")) + behind
}

func (w *l4) oldName(svc *corev1.Service) string {
	return ("a" + strings.ReplaceAll(string(svc.UID), "-", ""))[:32]
}

// descriptionOf returns a description.
func descriptionOf(svc *corev1.Service, ip string) string {
	out := fmt.Sprintf(`{"networking.gke.io/service-name":"%s/%s","networking.gke.io/api-version":"ga"`, svc.Namespace, svc.Name)
	if ip != "" {
		out += fmt.Sprintf(`,"networking.gke.io/service-ip":%q`, ip)
	}
	return out + "}"
}

// ofAll is the description of what Services share.
func ofAll(what string) string {
	return fmt.Sprintf(`{"networking.gke.io/service-name":"","networking.gke.io/api-version":"ga","networking.gke.io/resource-description":"This resource is shared by all L4 %s Services using ExternalTrafficPolicy: Cluster."}`, what)
}

// serve builds all of one Service, and says so in its status and finalizers.
func (w *l4) serve(svc *corev1.Service, nodes []string) {
	w.t.Helper()
	internal := svc.Spec.LoadBalancerClass != nil && strings.Contains(*svc.Spec.LoadBalancerClass, "internal")
	backend := w.backend(svc, internal, w.check(svc, internal), w.groups(svc, internal, nodes))
	ip := w.rules(svc, internal, backend)
	w.firewall(w.name(svc, "", ""), descriptionOf(svc, ""), clientRanges(svc), ip, w.allowed(svc), w.strength(internal))
	if w.deny && !internal {
		w.insert(l4Project+"/global/firewalls", wire.Object{
			"name": w.name(svc, "", "-deny"), "description": descriptionOf(svc, ""), "network": w.url(l4Project + "/global/networks/default"), "denied": []any{wire.Object{"IPProtocol": "all"}},
			"sourceRanges": []any{"0.0.0.0/0"}, "destinationRanges": []any{ip}, "targetTags": []any{w.running.Cloud.Seed.NodeTag}, "priority": 1000,
		})
	}
	finalizer := "gke.networking.io/l4-ilb-v2"
	switch {
	case !internal && w.negs:
		finalizer = "gke.networking.io/l4-netlb-v3"
	case !internal:
		finalizer = "gke.networking.io/l4-netlb-v2"
	}
	svc.Finalizers = append(svc.Finalizers, finalizer)
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip}}
}

func clientRanges(svc *corev1.Service) []any {
	if len(svc.Spec.LoadBalancerSourceRanges) == 0 {
		return []any{"0.0.0.0/0"}
	}
	var out []any
	for _, r := range svc.Spec.LoadBalancerSourceRanges {
		out = append(out, r)
	}
	return out
}

// strength of what lets in: beside a denial it is the stronger.
func (w *l4) strength(internal bool) int {
	if w.deny && !internal {
		return 999
	}
	return 1000
}

func (w *l4) firewall(name, description string, sources []any, to string, allowed []any, priority int) {
	w.t.Helper()
	doc := wire.Object{
		"name": name, "description": description, "network": w.url(l4Project + "/global/networks/default"), "sourceRanges": sources, "allowed": allowed,
		"targetTags": []any{w.running.Cloud.Seed.NodeTag}, "priority": priority,
	}
	if to != "" {
		doc["destinationRanges"] = []any{to}
	}
	w.insert(l4Project+"/global/firewalls", doc)
}

// allowed are the Service's ports, UDP first.
func (w *l4) allowed(svc *corev1.Service) (out []any) {
	ports := portsOf(svc)
	for _, protocol := range slices.Backward(slices.Sorted(maps.Keys(ports))) {
		var texts []any
		for _, p := range ports[protocol] {
			texts = append(texts, strconv.Itoa(p))
		}
		out = append(out, wire.Object{"IPProtocol": strings.ToLower(protocol), "ports": texts})
	}
	return out
}

// portsOf are a Service's ports by protocol, in order.
func portsOf(svc *corev1.Service) map[string][]int {
	out := map[string][]int{}
	for _, p := range svc.Spec.Ports {
		out[string(p.Protocol)] = append(out[string(p.Protocol)], int(p.Port))
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

func hasLocalPolicy(svc *corev1.Service) bool {
	return svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// check makes a health check and its firewall, those of all Services once.
func (w *l4) check(svc *corev1.Service, internal bool) string {
	w.t.Helper()
	collection, word := l4Region+"/healthChecks", "XLB"
	if internal {
		collection, word = l4Project+"/global/healthChecks", "ILB"
	}
	name, description, port, interval, unhealthy := w.name(svc, "", ""), descriptionOf(svc, ""), int(svc.Spec.HealthCheckNodePort), 3, 2
	fw := description
	if !hasLocalPolicy(svc) {
		name, description, port, interval, unhealthy = "k8s2-"+sumPrefix(l4System)+"-l4-shared-hc", ofAll(word), 10256, 8, 3
		fw = ofAll("")
	}
	if !w.has(collection, name) {
		w.insert(collection, wire.Object{
			"name": name, "description": description, "type": "HTTP", "checkIntervalSec": interval, "timeoutSec": 1, "healthyThreshold": 1, "unhealthyThreshold": unhealthy,
			"httpHealthCheck": wire.Object{"port": port, "requestPath": "/healthz"},
		})
	}
	if !w.has(l4Project+"/global/firewalls", name+"-fw") {
		sources := []any{"130.211.0.0/22", "35.191.0.0/16", "209.85.152.0/22", "209.85.204.0/22"}
		w.firewall(name+"-fw", fw, sources, "", []any{wire.Object{"IPProtocol": "tcp", "ports": []any{strconv.Itoa(port)}}}, w.strength(false)) // also of internal ones
	}
	return w.url(collection + "/" + name)
}

// has reports whether a collection has a name.
func (w *l4) has(collection, name string) bool {
	w.t.Helper()
	items, _ := w.call(http.MethodGet, collection, nil)["items"].([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		doc, _ := item.(map[string]any)
		return doc["name"] == name
	})
}

// groups makes what nodes are in, of each zone that has some: endpoint groups of the
// Service, with the named nodes, or instance groups of all. It returns the backends.
func (w *l4) groups(svc *corev1.Service, internal bool, nodes []string) (out []any) {
	w.t.Helper()
	byZone := map[string][]any{}
	for _, n := range w.running.Cloud.Seed.Nodes {
		if byZone[n.Zone] == nil {
			byZone[n.Zone] = []any{} // a zone without a pod has a group as well
		}
		switch {
		case !internal && !w.negs:
			byZone[n.Zone] = append(byZone[n.Zone], wire.Object{"instance": w.url(l4Project + "/zones/" + n.Zone + "/instances/" + n.Name)})
		case !hasLocalPolicy(svc) || slices.Contains(nodes, n.Name):
			byZone[n.Zone] = append(byZone[n.Zone], wire.Object{"instance": n.Name, "ipAddress": n.InternalIP})
		}
	}
	for _, zone := range slices.Sorted(maps.Keys(byZone)) {
		if !internal && !w.negs {
			out = append(out, wire.Object{"group": w.instanceGroup(l4Project+"/zones/"+zone, byZone[zone])})
			continue
		}
		collection, name := l4Project+"/zones/"+zone+"/networkEndpointGroups", w.name(svc, "", "")
		w.insert(collection, wire.Object{
			"name": name, "networkEndpointType": "GCE_VM_IP", "network": w.url(l4Project + "/global/networks/default"), "subnetwork": w.url(l4Region + "/subnetworks/default"),
			"description": fmt.Sprintf(`{"cluster-uid":%q,"namespace":%q,"service-name":%q,"port":"0"}`, l4System, svc.Namespace, svc.Name),
		})
		if len(byZone[zone]) > 0 {
			w.insert(collection+"/"+name+"/attachNetworkEndpoints", wire.Object{"networkEndpoints": byZone[zone]})
		}
		out = append(out, wire.Object{"group": w.url(collection + "/" + name), "balancingMode": "CONNECTION"})
	}
	return out
}

// instanceGroup makes the one of a zone, once.
func (w *l4) instanceGroup(zone string, instances []any) string {
	w.t.Helper()
	if !w.has(zone+"/instanceGroups", l4Groups) {
		w.insert(zone+"/instanceGroups", wire.Object{"name": l4Groups})
		w.insert(zone+"/instanceGroups/"+l4Groups+"/addInstances", wire.Object{"instances": instances})
	}
	return w.url(zone + "/instanceGroups/" + l4Groups)
}

// backend makes the backend service.
func (w *l4) backend(svc *corev1.Service, internal bool, check string, backends []any) string {
	w.t.Helper()
	name, ports := w.name(svc, "", ""), portsOf(svc)
	protocol, scheme, affinity, drains, locality := string(svc.Spec.Ports[0].Protocol), "EXTERNAL", "NONE", 0, "MAGLEV"
	if len(ports) > 1 {
		protocol = "UNSPECIFIED"
	}
	if protocol == "TCP" {
		drains = 30
	}
	if svc.Spec.SessionAffinity == corev1.ServiceAffinityClientIP {
		affinity = "CLIENT_IP"
	}
	if svc.Annotations["networking.gke.io/weighted-load-balancing"] != "" {
		locality = "WEIGHTED_MAGLEV"
	}
	if internal {
		scheme, locality = "INTERNAL", ""
	}
	doc := wire.Object{
		"name": name, "description": descriptionOf(svc, ""), "protocol": protocol, "loadBalancingScheme": scheme, "sessionAffinity": affinity, "healthChecks": []any{check},
		"backends": backends, "connectionDraining": wire.Object{"drainingTimeoutSec": drains},
		"networkPassThroughLbTrafficPolicy": wire.Object{"zonalAffinity": wire.Object{"spillover": "ZONAL_AFFINITY_DISABLED"}},
	}
	if locality != "" {
		doc["localityLbPolicy"] = locality
	}
	if svc.Annotations["networking.gke.io/l4-strong-session-affinity"] != "" {
		doc["connectionTrackingPolicy"] = wire.Object{
			"enableStrongAffinity": true, "trackingMode": "PER_SESSION", "idleTimeoutSec": *svc.Spec.SessionAffinityConfig.ClientIP.TimeoutSeconds,
		}
	}
	w.insert(l4Region+"/backendServices", doc)
	return w.url(l4Region + "/backendServices/" + name)
}

// rules makes the forwarding rules while an address holds their IP, and returns that.
func (w *l4) rules(svc *corev1.Service, internal bool, backend string) string {
	w.t.Helper()
	tier := strings.ToUpper(cmp.Or(svc.Annotations["cloud.google.com/network-tier"], "Premium"))
	subnet := w.url(l4Region + "/subnetworks/" + cmp.Or(svc.Annotations["networking.gke.io/internal-load-balancer-subnet"], "default"))
	named := svc.Annotations["networking.gke.io/load-balancer-ip-addresses"]
	held := cmp.Or(named, w.oldName(svc))
	if named == "" {
		address := wire.Object{"name": held, "description": fmt.Sprintf(`{"kubernetes.io/service-name":"%s/%s"}`, svc.Namespace, svc.Name), "networkTier": tier}
		if internal {
			address = wire.Object{"name": held, "addressType": "INTERNAL", "subnetwork": subnet}
		}
		w.insert(l4Region+"/addresses", address)
	}
	ip, _ := w.call(http.MethodGet, l4Region+"/addresses/"+held, nil)["address"].(string)
	for name, ports := range w.shapes(svc, internal) {
		rule := wire.Object{"name": name, "description": descriptionOf(svc, ip), "IPAddress": ip, "backendService": backend, "networkTier": tier, "loadBalancingScheme": "EXTERNAL"}
		if internal {
			maps.Copy(rule, wire.Object{
				"loadBalancingScheme": "INTERNAL", "networkTier": "PREMIUM", "network": w.url(l4Project + "/global/networks/default"), "subnetwork": subnet,
				"allowGlobalAccess": svc.Annotations["networking.gke.io/internal-load-balancer-allow-global-access"] == "true",
			})
		}
		maps.Copy(rule, ports)
		w.insert(l4Region+"/forwardingRules", rule)
	}
	if named == "" {
		w.call(http.MethodDelete, l4Region+"/addresses/"+held, nil)
	}
	return ip
}

// shapes are protocol and ports of the rules, by name.
func (w *l4) shapes(svc *corev1.Service, internal bool) map[string]wire.Object {
	all := portsOf(svc)
	if len(all) > 1 && (internal || w.l3) {
		return map[string]wire.Object{w.name(svc, "l3", ""): {"IPProtocol": "L3_DEFAULT", "allPorts": true}}
	}
	out := map[string]wire.Object{}
	for protocol, ports := range all {
		name, shape := w.name(svc, strings.ToLower(protocol), ""), wire.Object{"IPProtocol": protocol}
		if !internal && len(all) == 1 {
			name = w.oldName(svc)
		}
		switch {
		case internal && len(ports) > 5:
			shape["allPorts"] = true
		case internal, len(ports) <= 5 && (w.discrete || len(all) > 1):
			var texts []any
			for _, p := range ports {
				texts = append(texts, strconv.Itoa(p))
			}
			shape["ports"] = texts
		default:
			shape["portRange"] = fmt.Sprintf("%d-%d", ports[0], ports[len(ports)-1])
		}
		out[name] = shape
	}
	return out
}
