package annotations

import corev1 "k8s.io/api/core/v1"

// ExcludeNode declares the label that keeps a node out of all load balancers.
func ExcludeNode(group string) *Key[bool] {
	return &Key[bool]{
		Name: corev1.LabelNodeExcludeBalancers, On: NodeLabel, Group: group, Example: "true",
		Doc:   "Keeps the node out of all load balancers, unless the value is false.",
		Forms: []Form[bool]{{Type: BoolUnless("false"), Source: "kubernetes/cloud-provider:controllers/service/controller.go"}},
	}
}

// SourceRanges declares the annotation with the ranges that clients may come from. It is for
// the docs: nodeports.SourceRanges reads it, since the field of the Service wins over it.
func SourceRanges(group, source string) *Key[string] {
	return Limiting(&Key[string]{
		Name: corev1.AnnotationLoadBalancerSourceRangesKey, Names: NamesNothing(), Group: group, Example: "10.0.0.0/8,192.168.0.0/16",
		Doc:   "Ranges of addresses that clients may come from, where spec.loadBalancerSourceRanges is empty.",
		Forms: []Form[string]{{Type: String().Legally("CIDRs separated by commas"), DefaultDoc: "everywhere", Source: source}},
	}, "", "0.0.0.0/0", "::/0")
}

// Exposing declares which clients a new key can admit. It is part of the declaration: the key must not be
// in a Set yet.
func Exposing[T any](k *Key[T], to Exposure) *Key[T] {
	k.Exposes = to
	return k
}
