package status

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	utilnet "k8s.io/utils/net"
)

// Result is a provider's information about a load balancer for its users: its
// addresses, and conditions that only the provider can determine. The zero
// value means that there is no address.
type Result struct {
	Ingress    []corev1.LoadBalancerIngress // in order of preference
	Conditions []Condition
	// Annotations are the provider's own output on the Service, for programs
	// that read it there; an empty value removes one.
	Annotations map[string]string
	// Early are annotations that are written even while there are no addresses, such as where the
	// next run creates something.
	Early map[string]string
	// Labels are the provider's own labels on the Service, written like Annotations. A
	// value that the API server would refuse is left out: Clean reports it.
	Labels map[string]string
	// Finalizers of the official controllers, by which they identify their Services.
	Finalizers []string
}

// IP returns the entry of a load balancer with an address. Mode is the destination
// that nodes see: LoadBalancerIPModeVIP the load balancer's address,
// LoadBalancerIPModeProxy their own. With VIP kube-proxy routes clients
// inside the cluster directly, past the load balancer.
func IP(addr string, mode corev1.LoadBalancerIPMode) corev1.LoadBalancerIngress {
	return Canonical(corev1.LoadBalancerIngress{IP: addr, IPMode: &mode})
}

// Hostname returns the entry of a load balancer with a host name.
func Hostname(name string) corev1.LoadBalancerIngress {
	return Canonical(corev1.LoadBalancerIngress{Hostname: name})
}

// Canonical returns an entry in the form in which the API server stores it, so
// that equal entries compare equal: host names in lower case and
// without the final dot, addresses as netip formats them, and an IP mode exactly
// if there is an address. VIP is the default of the API server.
func Canonical(in corev1.LoadBalancerIngress) corev1.LoadBalancerIngress {
	out := *in.DeepCopy()
	out.Hostname = strings.TrimSuffix(strings.ToLower(in.Hostname), ".")
	if addr, ok := netip.AddrFromSlice(utilnet.ParseIPSloppy(in.IP)); ok {
		out.IP = addr.Unmap().String()
	}
	switch {
	case out.IP == "":
		out.IPMode = nil
	case out.IPMode == nil || *out.IPMode == "":
		vip := corev1.LoadBalancerIPModeVIP
		out.IPMode = &vip
	}
	if len(out.Ports) == 0 {
		out.Ports = nil
	}
	return out
}

// Clean brings every entry into canonical form, drops repeated ones, and leaves
// out entries that the API server would refuse, because one of them would fail the
// whole patch. The error lists the entries that were left out; the Result is usable
// in any case.
func (r Result) Clean() (Result, error) {
	problems := &multierror.Error{ErrorFormat: inOneLine}
	out := Result{Conditions: slices.Clone(r.Conditions), Annotations: maps.Clone(r.Annotations), Labels: maps.Clone(r.Labels), Finalizers: slices.Clone(r.Finalizers)}
	for key, value := range r.Labels {
		if faults := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(faults) > 0 {
			problems = multierror.Append(problems, fmt.Errorf("label %s=%q: %s", key, value, strings.Join(faults, "; ")))
			delete(out.Labels, key)
		}
	}
	for i, in := range r.Ingress {
		entry := Canonical(in)
		if err := checkEntry(entry); err != nil {
			problems = multierror.Append(problems, fmt.Errorf("ingress %d: %w", i, err))
			continue
		}
		var ports []corev1.PortStatus
		for _, p := range entry.Ports {
			if err := CheckPort(p); err != nil {
				problems = multierror.Append(problems, fmt.Errorf("ingress %d: %w", i, err))
				continue
			}
			ports = append(ports, p)
		}
		entry.Ports = ports
		if !slices.ContainsFunc(out.Ingress, func(o corev1.LoadBalancerIngress) bool { return equality.Semantic.DeepEqual(o, entry) }) {
			out.Ingress = append(out.Ingress, entry)
		}
	}
	return out, problems.ErrorOrNil()
}

func inOneLine(errs []error) string {
	out := make([]string, 0, len(errs))
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return strings.Join(out, "; ")
}

// checkEntry checks a canonical entry against the rules of Services' status.
// Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go.
func checkEntry(in corev1.LoadBalancerIngress) error {
	if in.IP == "" && in.Hostname == "" {
		return fmt.Errorf("neither address nor host name")
	}
	if in.IP != "" {
		addr, err := netip.ParseAddr(in.IP)
		if err != nil {
			return fmt.Errorf("address %q: %w", in.IP, err)
		}
		if addr.Zone() != "" {
			return fmt.Errorf("address %q: a zone means nothing off its host", in.IP)
		}
		if m := *in.IPMode; m != corev1.LoadBalancerIPModeVIP && m != corev1.LoadBalancerIPModeProxy {
			return fmt.Errorf("address %s: IP mode %q is neither VIP nor Proxy", in.IP, m)
		}
	}
	if in.Hostname == "" {
		return nil
	}
	if _, err := netip.ParseAddr(in.Hostname); err == nil {
		return fmt.Errorf("host name %q: is an address", in.Hostname)
	}
	if faults := validation.IsDNS1123Subdomain(in.Hostname); len(faults) > 0 {
		return fmt.Errorf("host name %q: %s", in.Hostname, strings.Join(faults, "; "))
	}
	return nil
}

// maxPortError is the longest error of a port status.
// Source: k8s.io/api/core/v1, PortStatus.
const maxPortError = 316

// CheckPort checks a port status against its documented form, which API servers up to
// 1.36 do not check: a legal port and protocol, and as error a CamelCase word,
// with a domain and a slash before it unless Kubernetes itself defines it.
func CheckPort(p corev1.PortStatus) error {
	if p.Port < 1 || p.Port > 65535 {
		return fmt.Errorf("port %d: outside of 1 to 65535", p.Port)
	}
	switch p.Protocol {
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
	default:
		return fmt.Errorf("port %d: protocol %q is none of TCP, UDP, SCTP", p.Port, p.Protocol)
	}
	if p.Error == nil {
		return nil
	}
	domain, word, prefixed := strings.Cut(*p.Error, "/")
	if !prefixed {
		domain, word = "", domain
	}
	if prefixed && len(validation.IsDNS1123Subdomain(domain)) > 0 || !camelCase(word) || len(*p.Error) > maxPortError {
		return fmt.Errorf("port %d: error %q is no CamelCase word with an optional domain before it", p.Port, *p.Error)
	}
	return nil
}

// PortStatuses returns an entry for every port of the Service, as the field requires
// if it is used at all. Failed returns the error of a port, empty for none; for one
// of Berth's own reasons it is PortError(reason).
func PortStatuses(svc *corev1.Service, failed func(corev1.ServicePort) string) []corev1.PortStatus {
	out := make([]corev1.PortStatus, 0, len(svc.Spec.Ports))
	for _, p := range svc.Spec.Ports {
		s := corev1.PortStatus{Port: p.Port, Protocol: p.Protocol}
		if s.Protocol == "" {
			s.Protocol = corev1.ProtocolTCP
		}
		if text := failed(p); text != "" {
			s.Error = &text
		}
		out = append(out, s)
	}
	return out
}

// PortError returns a reason of ours as the error of a port.
func PortError(r Reason) string { return Prefix + string(r) }

func camelCase(word string) bool {
	for i, c := range word {
		upper, lower, digit := c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9'
		if !upper && (i == 0 || !lower && !digit) {
			return false
		}
	}
	return word != ""
}
