package inputs

import (
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// slimSlice drops unused fields of endpoints, and stores equal values once.
func slimSlice(obj any) (any, error) {
	s, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok {
		return obj, nil
	}
	s.ManagedFields, s.Annotations, s.OwnerReferences = nil, nil, nil
	s.Endpoints = slices.Clip(slices.Clone(s.Endpoints)) // decoding leaves room for more
	texts, flags := map[string]*string{}, map[bool]*bool{}
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		e.Hostname, e.DeprecatedTopology, e.Hints = nil, nil, nil
		e.NodeName, e.Zone = sharedText(texts, e.NodeName), sharedText(texts, e.Zone)
		if ref := e.TargetRef; ref != nil {
			e.TargetRef = &corev1.ObjectReference{Kind: unique.Make(ref.Kind).Value(), Name: ref.Name, UID: ref.UID}
		}
		c := &e.Conditions
		c.Ready, c.Serving, c.Terminating = internValue(flags, c.Ready), internValue(flags, c.Serving), internValue(flags, c.Terminating)
	}
	return s, nil
}

// internValue returns the first pointer to an equal value.
func internValue[T comparable](known map[T]*T, p *T) *T {
	if p == nil {
		return nil
	}
	if known[*p] == nil {
		known[*p] = p
	}
	return known[*p]
}

// sharedText is shared for a text that stands in other slices as well.
func sharedText(known map[string]*string, p *string) *string {
	if p == nil {
		return nil
	}
	if known[*p] == nil {
		text := unique.Make(*p).Value()
		known[text] = &text
	}
	return known[*p]
}
