package providers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// Capability describes load balancers of one kind, as data. The validation of
// Services, the problems of `berth check` without a cloud and the table of kinds in
// the documentation derive from it.
type Capability struct {
	Kind      string
	Doc       string // one sentence, for the table of kinds
	Asked     string // how a Service requests it; empty: it cannot be requested
	Optional  string // the only place where it is served, after "only"; empty: everywhere
	Protocols []corev1.Protocol
	// Mixed reports whether one Service can have several protocols.
	Mixed    bool
	Families []corev1.IPFamily
	// Affinity reports whether spec.sessionAffinity ClientIP is supported.
	Affinity bool
	// Address reports whether spec.loadBalancerIP is supported.
	Address bool
	// AffinityIgnored and AddressIgnored mean that a Service is served without the field, as by the
	// official controller: it gets a warning instead of an error.
	AffinityIgnored, AddressIgnored bool
	// NodePorts reports whether every port needs a node port.
	NodePorts bool
	// EmptyPools means that a port without a node port gets a listener without backends,
	// so that a Service of such ports alone is valid.
	EmptyPools bool
	Limits     Limits
	Advice     Advice
}

// Advice is the next step if the kind does not support a request of a Service; empty
// if the capability explains it.
type Advice struct {
	Protocol string // what is legal instead
	Mixed    string // what is legal instead
	Address  string // what to do with the field
	Family   string // the consequence for a Service without any family of the kind
	Rules    string // a remark about the limit of rules, after a comma or semicolon
}

// Judge lists requests of a Service that the kind does not support. It needs neither
// cloud nor configuration.
func (c Capability) Judge(svc *corev1.Service, b nodeports.Backends) annotations.Problems {
	out := c.fields(svc)
	if len(b.Ports) == 0 {
		return append(out, newProblem(annotations.CodeSpec, "spec.ports", "", "is empty, so there is nothing to serve", "at least one port"))
	}
	var seen, unserved []string
	for _, p := range b.Ports {
		if !slices.Contains(seen, string(p.Protocol)) {
			seen = append(seen, string(p.Protocol))
		}
		if !slices.Contains(c.Protocols, p.Protocol) {
			unserved = append(unserved, p.String())
		}
	}
	if len(unserved) > 0 {
		out = append(out, newProblem(annotations.CodeProtocol, "spec.ports", strings.Join(unserved, ", "), "has a protocol that load balancers of kind "+c.Kind+" do not serve", orElse(c.Advice.Protocol, joinWords(c.Protocols))))
	}
	if len(seen) > 1 && !c.Mixed {
		out = append(out, newProblem(annotations.CodeMixed, "spec.ports", "", "mixes "+strings.Join(seen, " and ")+", which load balancers of kind "+c.Kind+" cannot serve together", orElse(c.Advice.Mixed, "one Service for each protocol")))
	}
	return append(out, c.unserved(b)...)
}

// fields judges fields that do not concern ports.
func (c Capability) fields(svc *corev1.Service) annotations.Problems {
	var out annotations.Problems
	spec := svc.Spec
	if spec.SessionAffinity == corev1.ServiceAffinityClientIP && !c.Affinity {
		out = append(out, warnIf(c.AffinityIgnored, newProblem(annotations.CodeAffinity, "spec.sessionAffinity", string(spec.SessionAffinity), "is not possible with load balancers of kind "+c.Kind, `"None"`)))
	}
	if spec.LoadBalancerIP != "" && !c.Address {
		out = append(out, warnIf(c.AddressIgnored, newProblem(annotations.CodeAddress, "spec.loadBalancerIP", spec.LoadBalancerIP, "cannot be given to a load balancer of kind "+c.Kind+": "+orElse(c.Advice.Address, "remove the field"), "")))
	}
	var other []corev1.IPFamily
	for _, f := range spec.IPFamilies {
		if !slices.Contains(c.Families, f) {
			other = append(other, f)
		}
	}
	if len(other) > 0 {
		message := fmt.Sprintf("has %s, but load balancers of kind %s have %s addresses only", joinWords(other), c.Kind, joinWords(c.Families))
		if len(other) == len(spec.IPFamilies) {
			message += c.Advice.Family
		}
		p := newProblem(annotations.CodeFamily, "spec.ipFamilies", "", message, joinWords(c.Families))
		p.Severity = annotations.Warning
		out = append(out, p)
	}
	return out
}

// WithLive returns the capability for a Service that may have its load balancer already. An address
// that the load balancer cannot have does not stop a live one from being followed.
func (c Capability) WithLive(live bool) Capability {
	c.AddressIgnored = c.AddressIgnored || live
	return c
}

// warnIf returns the problem of a field as a warning if the field is ignored.
func warnIf(ignored bool, p annotations.Problem) annotations.Problem {
	if ignored {
		p.Severity = annotations.Warning
		p.Message += "; it has no effect"
	}
	return p
}

// unserved judges ports without a node port. They are left out, or have no backends, as
// with the official controllers, which report it only in their log or not at all.
func (c Capability) unserved(b nodeports.Backends) annotations.Problems {
	if !c.NodePorts || !b.Missing.Any() {
		return nil
	}
	p := newProblem(annotations.CodeNodePort, "spec.ports", "", b.Missing.Message(), "")
	if c.EmptyPools || len(b.Ports) > len(b.Missing.Ports) {
		p.Severity = annotations.Warning
	}
	return annotations.Problems{p}
}

func newProblem(code annotations.Code, key, value, message, legal string) annotations.Problem {
	return annotations.Problem{Code: code, Key: key, Value: value, Message: message, Legal: legal}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// joinWords joins protocols or families: "TCP", "TCP or UDP".
func joinWords[T ~string](values []T) string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return strings.Join(out, " or ")
}

// CapabilityOf returns the capability of a kind; false: it is not declared.
func CapabilityOf(all []Capability, kind string) (Capability, bool) {
	i := slices.IndexFunc(all, func(c Capability) bool { return c.Kind == kind })
	if i < 0 {
		return Capability{}, false
	}
	return all[i], true
}

// askedFor returns, for the table, how a Service requests the kind.
func (c Capability) askedFor() string {
	out := "asking for no other"
	if c.Asked != "" {
		out = "`" + c.Asked + "`"
	}
	if c.Optional != "" {
		out += ", only " + c.Optional
	}
	return out
}

// CapabilitiesMarkdown returns the table of kinds of the clouds.
func CapabilitiesMarkdown(entries []Entry) string {
	var b strings.Builder
	b.WriteString("# Kinds of load balancers\n\nGenerated from the `capabilities.go` of each provider by `make docs`. Validation follows from the same data.\n\n" +
		"| Cloud | Kind | What | Asked for by | Protocols | Together | IP families | `sessionAffinity` | `loadBalancerIP` | Sends to | Ports at most | Source ranges at most | Rules at most |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, e := range entries {
		for _, c := range e.Capabilities {
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", e.Name, c.Kind, c.Doc, c.askedFor(), strings.ReplaceAll(joinWords(c.Protocols), " or ", ", "),
				yes[c.Mixed], strings.ReplaceAll(joinWords(c.Families), " or ", ", "), yes[c.Affinity], yes[c.Address],
				map[bool]string{true: "node ports", false: "nodes or pods"}[c.NodePorts],
				limitText(c.Limits.Ports), limitText(c.Limits.Ranges), limitText(c.Limits.Rules))
		}
	}
	b.WriteString("\nRules are the entries that the Service's ports and ranges take in security groups, firewalls and lists of clients. What is beyond one of\n" +
		"these numbers is refused before the cloud is asked for anything. They are what the cloud can have at most, or, on OpenStack, where quotas\n" +
		"are the operator's, limits of Berth's own. An annotation may have " + fmt.Sprint(annotations.MostText) + " bytes. Fewer of each, by namespace, is a matter of the [policy file](policy.md).\n")
	return b.String()
}

// CapabilitiesSummary returns the short table of kinds for the front page of the documentation.
func CapabilitiesSummary(entries []Entry) string {
	var b strings.Builder
	b.WriteString("| Cloud | Kind | TCP | UDP | SCTP | Mixed | IPv6 | `sessionAffinity` | `loadBalancerIP` | Needs node ports |\n|---|---|---|---|---|---|---|---|---|---|\n")
	mark := map[bool]string{true: "yes", false: "-"}
	for _, e := range entries {
		for _, c := range e.Capabilities {
			cells := []string{"`" + c.Kind + "`"}
			for _, p := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP} {
				cells = append(cells, mark[slices.Contains(c.Protocols, p)])
			}
			cells = append(cells, mark[c.Mixed], mark[slices.Contains(c.Families, corev1.IPv6Protocol)], mark[c.Affinity], mark[c.Address], mark[c.NodePorts])
			fmt.Fprintf(&b, "| [%s](reference/%s.md) | %s |\n", e.Name, e.Name, strings.Join(cells, " | "))
		}
	}
	return b.String()
}
