package model

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Targets of QUIC ports are registered with the id that their program puts into connection
// ids, by which packets find it when a client's address changes. The webhook writes it into
// the environment of containers, where the AWS Load Balancer Controller writes it too.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/k8s/pod_info.go;
// API reference, TargetDescription, QuicServerId.
const (
	protocolQUIC    = "QUIC"
	protocolTCPQUIC = "TCP_QUIC"
	serverIDEnv     = "AWS_LBC_QUIC_SERVER_ID"
	serverIDBytes   = 8
)

// Servers are the ids of a pod for QUIC.
type Servers struct {
	Any    string           // for ports that no container with an id lists
	ByPort map[int32]string // of containers
}

// at is the id of a port; empty: there is none.
func (s Servers) at(port int32) string {
	if id := s.ByPort[port]; id != "" {
		return id
	}
	return s.Any
}

// ServersOf are the ids in the containers of a pod, including init containers that keep
// running.
func ServersOf(pod *corev1.Pod) Servers {
	out := Servers{ByPort: map[int32]string{}}
	if _, said := pod.Annotations[quicContainersKey]; !said {
		return out
	}
	all := slices.Clone(pod.Spec.Containers)
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	for _, c := range all {
		id := serverID(c.Env)
		if id == "" {
			continue
		}
		for _, p := range c.Ports {
			out.ByPort[p.ContainerPort] = id
		}
		if out.Any == "" {
			out.Any = id
		}
	}
	return out
}

// serverID is the id as AWS takes it; empty without one, or with one that AWS refuses.
func serverID(env []corev1.EnvVar) string {
	i := slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == serverIDEnv })
	if i < 0 {
		return ""
	}
	raw, err := base64.StdEncoding.DecodeString(env[i].Value)
	if err != nil || len(raw) != serverIDBytes {
		return ""
	}
	return "0x" + hex.EncodeToString(raw)
}

// quic has ports speak QUIC that carry UDP and are to.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_listener.go (buildListenerSpec).
func (f *controlled) quic(ports []lbcPort) {
	wanted, from, said := QUICKey.Lookup(f.in.Values)
	if !said {
		return
	}
	for i, p := range ports {
		if !wanted.Has(corev1.ServicePort{Name: p.Name, Port: p.Port}) {
			continue
		}
		switch {
		case f.target != targetIP:
			f.report(refuseValue(from, "needs pods as targets: AWS wants an id of each, which a node has none of", targetTypeKey.Name+`: "ip"`)...)
		case p.group == string(corev1.ProtocolUDP):
			ports[i].listener, ports[i].group = protocolQUIC, protocolQUIC
		case p.group == protocolBoth:
			ports[i].listener, ports[i].group = protocolTCPQUIC, protocolTCPQUIC
		default:
			f.report(refuseValue(from, fmt.Sprintf("names port %d, which has the protocol %s; QUIC uses UDP", p.Port, p.group), "UDP ports, or ports with both protocols by "+tcpUDPKey.Name)...)
		}
	}
}

// speaksQUIC reports whether targets of the port have ids.
func (p lbcPort) speaksQUIC() bool { return speaksQUIC(p.group) }

func speaksQUIC(protocol string) bool { return protocol == protocolQUIC || protocol == protocolTCPQUIC }

// withServers gives targets of a QUIC port their ids. Pods without one are left out: AWS takes none.
func (f *controlled) withServers(p lbcPort, targets []Target) []Target {
	if !p.speaksQUIC() {
		return targets
	}
	uids := map[string]string{}
	for _, e := range f.pods(p) {
		uids[Target{ID: e.Addr.String(), Port: e.Port}.entry()] = e.Pod
	}
	var out []Target
	var bare []string
	for _, t := range targets {
		if t.Server = f.facts.Servers[uids[t.entry()]].at(t.Port); t.Server == "" {
			bare = append(bare, t.ID)
			continue
		}
		out = append(out, t)
	}
	if len(bare) > 0 {
		f.report(annotations.ProblemOf("pods", "", fmt.Sprintf("of port %d have no id for QUIC: %s, so they get no traffic", p.Port, shortList(bare)),
			"the annotation "+quicContainersKey+", in a namespace with the label "+quicLabel+`: "enabled"; pods that existed before must be created again`, annotations.Warning))
	}
	return out
}

// serverLookups ask for the ids of the pods of a Service with QUIC ports.
func serverLookups(in input) []providers.Lookup {
	if _, _, said := QUICKey.Lookup(in.Values); !said || len(in.Service.Spec.Selector) == 0 {
		return nil
	}
	of := url.Values{}
	for key, value := range in.Service.Spec.Selector {
		of.Set(key, value)
	}
	out := []providers.Lookup{{Kind: KindPods, By: BySelector, Value: in.Owner.Namespace + "?" + of.Encode()}}
	uids := map[string]bool{}
	for _, port := range in.Backends.Endpoints.ByPort {
		for _, e := range port.List {
			if e.Pod != "" {
				uids[e.Pod] = true
			}
		}
	}
	for _, uid := range sortedKeys(uids) {
		out = append(out, providers.Lookup{Kind: KindPods, By: ByUID, Value: uid})
	}
	return out
}
