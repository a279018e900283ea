package model

import (
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// Values are looked up by the key that was declared, so that each key is built once.
var (
	internalKey = &annotations.Key[bool]{
		Name: "quay.example/internal", Group: "Network", Doc: "Whether the load balancer has a private address.",
		Forms: []annotations.Form[bool]{{Kinds: []string{Kind}, Type: annotations.Bool(), Default: false}},
	}
	noticeKey = &annotations.Key[string]{
		Name: "quay.example/notice-configmap", Group: "Listeners",
		Doc:   "Name of a ConfigMap in the namespace of the Service. Its key `text` is what clients see while no machine serves.",
		Forms: []annotations.Form[string]{{Kinds: []string{Kind}, Type: annotations.NonEmpty()}},
	}
	noticeObjectKey = &annotations.Key[string]{
		Name: "quay.example/notice", Group: "Listeners",
		Doc:   "Name of an object `Notice` in the namespace of the Service. Its `spec.text` is what clients see while no machine serves.",
		Forms: []annotations.Form[string]{{Kinds: []string{Kind}, Type: annotations.NonEmpty()}},
	}
)

// Annotations returns all declared keys.
func Annotations() *annotations.Set {
	set, err := annotations.NewSet("quay", []string{"quay.example/"}, internalKey, noticeKey, noticeObjectKey)
	if err != nil {
		panic(err) // a mistake in the declarations above; a test of the package sees it
	}
	return set
}

// noticeKind returns the kind of the objects Notice.
func noticeKind() providers.ObjectKind {
	return providers.KindOf("quay.example", "v1", "notices")
}

// Refers returns the ConfigMap and the Notice that a Service names. The program watches each by its
// name, and its content is part of the input: a change leads to a run.
func Refers(in Input) []providers.Reference {
	var out []providers.Reference
	if name := noticeKey.Get(in.Values); name != "" {
		out = append(out, providers.Reference{Kind: providers.ConfigMap, Namespace: in.Service.Namespace, Name: name})
	}
	if name := noticeObjectKey.Get(in.Values); name != "" {
		out = append(out, providers.Reference{Kind: noticeKind(), Namespace: in.Service.Namespace, Name: name})
	}
	return out
}

// noticeText is the field of a ConfigMap or a Notice that has the text.
const noticeText = "text"

// noticeOf returns the notice of a Service, and what is wrong with the objects that it names. The
// ConfigMap counts before the Notice.
func noticeOf(in Input) (string, annotations.Problems) {
	var texts []string
	var problems annotations.Problems
	for _, ref := range Refers(in) {
		object, key, legal := in.Objects[ref], noticeKey, "the name of a ConfigMap in the namespace of the Service"
		text, has := string(object.Data[noticeText]), object.Data[noticeText] != nil
		if ref.Kind == noticeKind() {
			key, legal = noticeObjectKey, "the name of a Notice in the namespace of the Service"
			text, has = object.Spec[noticeText].(string)
		}
		switch {
		case object.Data == nil && object.Spec == nil:
			problems = append(problems, key.Refusal(in.Values, ref.String()+" "+object.Why, legal))
		case !has:
			problems = append(problems, key.Refusal(in.Values, ref.String()+" has no key "+noticeText, legal+" with the key "+noticeText))
		default:
			texts = append(texts, text)
		}
	}
	return strings.Join(texts[:min(len(texts), 1)], ""), problems
}
