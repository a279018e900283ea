package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// sourceRef returns the Endpoints from which a Service takes its targets; false: they are its own pods.
func sourceRef(in Input) (providers.Reference, bool) {
	name := sourceKey.Get(in.Values).Name
	return providers.Reference{Kind: providers.Endpoints, Namespace: in.Service.Namespace, Name: name}, name != ""
}

// endpointsFor returns the endpoints of a port: the Service's own pods, or the endpoints of the object that it names. False:
// they are not known, because the object is missing or unreadable, or the value is no JSON.
func endpointsFor(in Input, p nodeports.ServicePort, family corev1.IPFamily) ([]nodeports.Endpoint, bool) {
	ref, named := sourceRef(in)
	if !named {
		return in.Backends.Endpoints.For(family, p.Name), in.Service.Annotations[sourceKey.Name] == ""
	}
	object := in.Objects[ref]
	if object.Slices == nil {
		return nil, false
	}
	found := nodeports.EndpointsOf([]corev1.IPFamily{family}, []nodeports.ServicePort{p}, object.Slices, FallbackOf(in))
	return found.For(family, p.Name), true
}

// checkSource reports targets that are not known, and ports that the named Endpoints do not have.
func (b *builder) checkSource() {
	ref, named := sourceRef(b.in)
	if !named || !directKey.Get(b.in.Values) {
		return
	}
	object := b.in.Objects[ref]
	if object.Slices == nil {
		b.problems = append(b.problems, sourceKey.Warning(b.in.Values, "names the "+ref.String()+", which "+object.Why+"; the targets stay as they are", "a Service or Endpoints of the namespace"))
		return
	}
	has := map[string]bool{}
	for _, one := range object.Backends().Endpoints.ByPort {
		has[portText(one.Port)] = true
	}
	for _, p := range b.in.Backends.Ports {
		if !has[portText(p)] && len(has) > 0 {
			b.problems = append(b.problems, sourceKey.Warning(b.in.Values, "names the "+ref.String()+", which has no port "+portText(p)+" for the port of that name of the Service", "Endpoints with ports of the same names and protocols"))
		}
	}
}

// portText writes the name and protocol of a port.
func portText(p nodeports.ServicePort) string { return `"` + p.Name + `"/` + string(p.Protocol) }
