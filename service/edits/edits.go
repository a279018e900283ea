package edits

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// field is a field of a Service that a load balancer depends on.
type field struct {
	name   string
	get    func(*corev1.ServiceSpec) any
	impact Impact
	text   string
}

// listFields lists the fields without ports and ranges. Fields that no load balancer depends on are
// missing. Source of what the API server refuses: kubernetes/kubernetes,
// pkg/apis/core/validation/validation.go, ValidateServiceUpdate.
func listFields() []field {
	return []field{
		{"loadBalancerClass", func(s *corev1.ServiceSpec) any { return s.LoadBalancerClass }, Forbidden, "the API server refuses another class for a Service of type LoadBalancer"},
		{"externalTrafficPolicy", func(s *corev1.ServiceSpec) any { return s.ExternalTrafficPolicy }, InPlace, "other nodes pass the health check"},
		{"healthCheckNodePort", func(s *corev1.ServiceSpec) any { return s.HealthCheckNodePort }, Forbidden, "the API server refuses another port"},
		{"selector", func(s *corev1.ServiceSpec) any { return s.Selector }, InPlace, "other pods serve the ports"},
		{"allocateLoadBalancerNodePorts", func(s *corev1.ServiceSpec) any { return s.AllocateLoadBalancerNodePorts }, Unknown, "node ports that exist stay"},
		{"loadBalancerIP", func(s *corev1.ServiceSpec) any { return s.LoadBalancerIP }, Unknown, "not every load balancer takes another address in place"},
		{"ipFamilyPolicy", func(s *corev1.ServiceSpec) any { return s.IPFamilyPolicy }, Unknown, "not every load balancer takes another family in place"},
		{"ipFamilies", func(s *corev1.ServiceSpec) any { return s.IPFamilies }, Unknown, "not every load balancer takes another family in place"},
		{"sessionAffinity", func(s *corev1.ServiceSpec) any { return s.SessionAffinity }, Unknown, "clients may reach other pods"},
		{"sessionAffinityConfig", func(s *corev1.ServiceSpec) any { return s.SessionAffinityConfig }, InPlace, ""},
	}
}

// compareFields compares the fields of a Service.
func compareFields(before, after *Side) []Edit {
	out := comparePorts(before, after)
	out = append(out, compareRanges(before, after)...)
	for _, f := range listFields() {
		was, is := f.get(&before.Service.Spec), f.get(&after.Service.Spec)
		if reflect.DeepEqual(was, is) || showValue(was) == showValue(is) {
			continue
		}
		where := "spec." + f.name
		out = append(out, Edit{Where: where, Before: showValue(was), After: showValue(is), Impact: f.impact, Text: f.text, At: after.At(where)})
	}
	return out
}

// showValue shows the value of a field; empty: it is not set.
func showValue(value any) string {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if v.IsZero() {
		return ""
	}
	switch v.Kind() {
	case reflect.Map:
		var parts []string
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprintf("%v=%v", key, v.MapIndex(key)))
		}
		slices.Sort(parts)
		return strings.Join(parts, ", ")
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, fmt.Sprint(v.Index(i)))
		}
		return strings.Join(parts, ", ")
	case reflect.Struct:
		if affinity, ok := v.Interface().(corev1.SessionAffinityConfig); ok && affinity.ClientIP != nil && affinity.ClientIP.TimeoutSeconds != nil {
			return fmt.Sprintf("%d seconds", *affinity.ClientIP.TimeoutSeconds)
		}
	default: // a scalar
	}
	return fmt.Sprint(v)
}

// comparePorts compares the ports, each found again by number and protocol.
func comparePorts(before, after *Side) []Edit {
	var out []Edit
	was, is := before.Service.Spec.Ports, after.Service.Spec.Ports
	for i, p := range is {
		where := fmt.Sprintf("spec.ports[%d]", i)
		at := slices.IndexFunc(was, func(old corev1.ServicePort) bool { return namePort(old) == namePort(p) })
		if at < 0 {
			out = append(out, Edit{Where: where, After: namePort(p), Impact: InPlace, Text: "opens " + namePort(p), At: after.At(where)})
			continue
		}
		out = append(out, comparePort(where, was[at], p, after)...)
	}
	for i, p := range was {
		if slices.ContainsFunc(is, func(now corev1.ServicePort) bool { return namePort(now) == namePort(p) }) {
			continue
		}
		where := fmt.Sprintf("spec.ports[%d]", i)
		out = append(out, Edit{Where: where, Before: namePort(p), Impact: Closes, Text: "closes " + namePort(p), At: before.At(where)})
	}
	return out
}

func namePort(p corev1.ServicePort) string { return fmt.Sprintf("%d/%s", p.Port, p.Protocol) }

// comparePort compares the other fields of one port.
func comparePort(where string, was, is corev1.ServicePort, after *Side) []Edit {
	var out []Edit
	add := func(name, before, now string, impact Impact, why string) {
		if before != now {
			out = append(out, Edit{Where: where + "." + name, Before: before, After: now, Impact: impact, Text: namePort(is) + ": " + why, At: after.At(where + "." + name)})
		}
	}
	add("targetPort", was.TargetPort.String(), is.TargetPort.String(), InPlace, "another port of the pods")
	add("nodePort", showValue(was.NodePort), showValue(is.NodePort), Unknown, "not every load balancer takes another node port without an interruption")
	add("appProtocol", showValue(was.AppProtocol), showValue(is.AppProtocol), Unknown, "some clouds read the protocol")
	return out
}

// compareRanges compares the ranges of addresses that may connect.
func compareRanges(before, after *Side) []Edit {
	was, is := listRanges(before.Service), listRanges(after.Service)
	added, removed := subtractList(is, was), subtractList(was, is)
	if len(added)+len(removed) == 0 {
		return nil
	}
	var parts []string
	if len(added) > 0 {
		parts = append(parts, "opens for "+strings.Join(added, ", "))
	}
	impact := InPlace
	if len(removed) > 0 {
		parts, impact = append(parts, "closes for "+strings.Join(removed, ", ")), Closes
	}
	const where = "spec.loadBalancerSourceRanges"
	return []Edit{{Where: where, Before: strings.Join(was, ", "), After: strings.Join(is, ", "), Impact: impact, Text: strings.Join(parts, "; "), At: after.At(where)}}
}

// everyone is the range of a Service that names no range.
const everyone = "every address"

// listRanges returns the ranges in one spelling, sorted.
func listRanges(svc *corev1.Service) []string {
	texts := svc.Spec.LoadBalancerSourceRanges
	if len(texts) == 0 {
		return []string{everyone}
	}
	var out []string
	for _, text := range texts {
		if prefix, err := netip.ParsePrefix(strings.TrimSpace(text)); err == nil {
			text = prefix.Masked().String()
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func subtractList(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(other, text) })
}

// compareKeys compares the declared annotations, each found again by its key or by another spelling of
// it.
func compareKeys(before, after *Side) []Edit {
	was, is := collectKeys(before), collectKeys(after)
	var out []Edit
	for _, name := range slices.Sorted(maps.Keys(mergeKeys(was, is))) {
		old, had := was[name]
		now, has := is[name]
		switch {
		case had && has && old.value == now.value && old.key == now.key:
			continue
		case had && has && old.value == now.value:
			out = append(out, Edit{Where: now.key, Before: old.key, After: now.key, Impact: None, Text: "another spelling of the same key", At: after.At(now.key)})
		case has:
			e := Edit{Where: now.key, Before: old.shown(), After: now.shown(), At: after.At(now.key), exposes: now.row.Exposes != ""}
			e.Impact, e.Text = effectOf(now.row, after.Kind, false)
			out = append(out, e)
		default:
			e := Edit{Where: old.key, Before: old.shown(), At: before.At(old.key), exposes: old.row.Exposes != ""}
			e.Impact, e.Text = effectOf(old.row, after.Kind, true)
			out = append(out, e)
		}
	}
	return out
}

// setting is a declared annotation of a Service.
type setting struct {
	key, value string
	row        annotations.Row
}

// shown returns the value as it may be printed.
func (s setting) shown() string {
	if s.row.Secret && s.value != "" {
		return "(hidden)"
	}
	return s.value
}

// collectKeys returns the declared annotations of a Service by the name of their declaration.
func collectKeys(s *Side) map[string]setting {
	out := map[string]setting{}
	for key, value := range s.Service.Annotations {
		row, known := s.Declared(key)
		if !known || row.On != annotations.ServiceAnnotation || row.Writer == annotations.ByController {
			continue
		}
		name := row.Key
		if row.PerPort {
			name = key
		}
		out[name] = setting{key, value, row}
	}
	return out
}

func mergeKeys(a, b map[string]setting) map[string]setting {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// effectOf returns what another value of an annotation, or its removal, does to a live load balancer.
func effectOf(row annotations.Row, kind string, removed bool) (Impact, string) {
	facts := row.For(kind)
	if !slices.Contains(facts.Kinds, kind) {
		return None, "the kind " + kind + " does not have the key"
	}
	if removed && facts.Removal == annotations.Stays {
		return Ignored, "without the key the last value stays"
	}
	switch facts.Change {
	case annotations.InPlace:
		return InPlace, ""
	case annotations.Brief:
		return Brief, ""
	case annotations.Replaced:
		return Replaced, ""
	case annotations.IgnoredAfterCreation:
		return Ignored, "a live load balancer keeps the first value"
	case annotations.Refused:
		return Forbidden, "a live load balancer cannot be changed; it stays as it is"
	}
	return Unknown, ""
}
