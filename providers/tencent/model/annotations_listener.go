package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// Keys of listeners.
var (
	protocolKey = &annotations.Key[map[int32]PortSpec]{
		Name: cloud + "specify-protocol", Group: groupListener, Names: annotations.NamesBy(annotations.ThingCertificate, secretNames),
		Example: `{"443":{"protocol":["HTTPS"],"hosts":{"shop.example.com":{"tls":"shop-cert"}}}}`,
		Doc:     "Protocols of listeners by port. tls names a Secret with the key qcloud_cert_id.",
		Forms: annotations.PlainForms(annotations.Custom("protocols", `a JSON object with ports, each with a list "protocol" of TCP, UDP, TCP_SSL, QUIC, HTTP and HTTPS, and "tls" or "hosts"`, parseProtocols),
			annotations.Brief, "the protocol of the port of the Service", "https://cloud.tencent.com/document/product/457/51259"),
	}
	parametersKey = &annotations.Key[map[string]string]{
		Name: kube + "service.listenerParameters", Group: groupListener, Names: annotations.NamesNothing(), Example: `{"Scheduler":"LEAST_CONN","HealthCheck":{"IntervalTime":10}}`,
		Doc:   "Parameters of all listeners of the Service, or of the rules of HTTP and HTTPS, as a JSON object.",
		Forms: annotations.PlainForms(annotations.Custom("parameters", "a JSON object with parameters of CreateListener", parseSettings), annotations.InPlace, "those of the cloud, and a live listener keeps its own", "kubernetes/website:content/en/docs/concepts/services-networking/service.md"),
	}
	loopbackKey = annotations.Flag(cloud+"prevent-loopback", groupListener, "Sends health checks from addresses of 100.64.0.0/10, so that clients on a node reach the load balancer through it.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", sourceDoc))
)

func listenerKeys() []annotations.Declaration {
	return []annotations.Declaration{protocolKey, parametersKey, configKey, loopbackKey}
}

// PortSpec is what a Service says of one port.
type PortSpec struct {
	Protocols []string            `json:"protocol"`
	TLS       string              `json:"tls"`
	Hosts     map[string]HostSpec `json:"hosts"`
}

// HostSpec is what a Service says of one domain of a port.
type HostSpec struct {
	TLS string `json:"tls"`
}

// secretNames returns the Secrets that ports name, sorted.
func secretNames(ports map[int32]PortSpec) []string {
	names := map[string]bool{}
	for _, p := range ports {
		names[p.TLS] = true
		for _, h := range p.Hosts {
			names[h.TLS] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

func parseProtocols(raw string) (map[int32]PortSpec, error) {
	var given map[string]PortSpec
	if err := json.Unmarshal([]byte(raw), &given); err != nil {
		return nil, fmt.Errorf("is not a JSON object of ports: %w", err)
	}
	out := map[int32]PortSpec{}
	for _, text := range slices.Sorted(maps.Keys(given)) {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return nil, fmt.Errorf("has %q, which is not a port", text)
		}
		if err := checkPort(given[text]); err != nil {
			return nil, fmt.Errorf("has the port %s that %w", text, err)
		}
		out[int32(port)] = given[text]
	}
	return out, nil
}

// checkPort judges what a Service says of one port.
func checkPort(p PortSpec) error {
	transports := map[string]bool{}
	if len(p.Protocols) == 0 {
		return errors.New("has no protocol")
	}
	for _, protocol := range p.Protocols {
		switch {
		case !slices.Contains([]string{tcp, udp, tcpSSL, quic, http, https}, protocol):
			return fmt.Errorf("has the protocol %q, which no listener has", protocol)
		case transports[transportOf(protocol)]:
			return fmt.Errorf("has two protocols over %s", transportOf(protocol))
		case (protocol == tcpSSL || protocol == quic) && p.TLS == "":
			return fmt.Errorf("has the protocol %s without tls", protocol)
		case HasRules(protocol) && len(p.Hosts) == 0:
			return fmt.Errorf("has the protocol %s without hosts", protocol)
		case protocol == https && !hasCertificates(p):
			return errors.New("has the protocol HTTPS and a host without tls")
		}
		transports[transportOf(protocol)] = true
	}
	return nil
}

// hasCertificates reports whether each host of a port has a certificate, its own or that of the port.
func hasCertificates(p PortSpec) bool {
	for _, h := range p.Hosts {
		if h.TLS == "" && p.TLS == "" {
			return false
		}
	}
	return true
}

// checkPlace refuses a private load balancer of the open controller's key without a subnet, and a
// subnet without a request for a private one.
func checkPlace(_ string, b *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	switch _, _, said := openTypeKey.Lookup(b); {
	case subnetKey.Get(b) != "" || b.Refused(openSubnetKey, openTypeKey, subnetKey):
	case openTypeKey.Get(b) == private && openSubnetKey.Get(b) == "":
		return annotations.Problems{openTypeKey.Refusal(b, "needs a subnet", openSubnetKey.Name+" with the id of a subnet")}
	case !said && openSubnetKey.Get(b) != "" && existedKey.Get(b) == "":
		p := openSubnetKey.Refusal(b, "is the subnet of an internal load balancer, and this one would be open to the internet", openTypeKey.Name+": "+private+", or no such annotation")
		p.Code = annotations.CodeExposed
		return annotations.Problems{p}
	}
	return nil
}

// checkProtocols judges protocols by port.
func checkProtocols(_ string, values *annotations.Bag, all []corev1.ServicePort) annotations.Problems {
	var out annotations.Problems
	given, direct := protocolKey.Get(values), directKey.Get(values)
	for _, port := range slices.Sorted(maps.Keys(given)) {
		protocols, ports := given[port].Protocols, nodeports.PortsOf(all, port)
		if len(ports) == 0 {
			out = append(out, protocolKey.Warning(values, fmt.Sprintf("has the port %d, which the Service does not have", port), "ports of the Service"))
			continue
		}
		for _, protocol := range protocols {
			if !direct && !slices.ContainsFunc(ports, func(p nodeports.ServicePort) bool { return transportOf(protocol) == string(p.Protocol) }) {
				out = append(out, protocolKey.Refusal(values, fmt.Sprintf("has %s for the port %s", protocol, ports[0]), "a protocol over that of the port, or "+directKey.Name+": true"))
			}
		}
		for _, p := range ports {
			if len(ports) > 1 && !slices.ContainsFunc(protocols, func(protocol string) bool { return transportOf(protocol) == string(p.Protocol) }) {
				out = append(out, protocolKey.Refusal(values, fmt.Sprintf("has no protocol for the port %s", p), "a protocol over each port of the number"))
			}
		}
	}
	return out
}
