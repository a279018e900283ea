package model

import (
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
)

// Annotations returns all declared keys.
func Annotations() *annotations.Set {
	set, err := annotations.NewSet("quay", []string{"quay.example/"}, internalKey, noticeKey)
	if err != nil {
		panic(err) // a mistake in the declarations above; a test of the package sees it
	}
	return set
}

// Refers returns the ConfigMap that a Service names. The program watches it by its name, and
// its content is part of the input: a change leads to a run.
func Refers(in Input) []providers.Reference {
	if name := noticeKey.Get(in.Values); name != "" {
		return []providers.Reference{{Kind: providers.ConfigMap, Namespace: in.Service.Namespace, Name: name}}
	}
	return nil
}

// noticeText is the key of the ConfigMap that has the notice.
const noticeText = "text"

// noticeOf returns the notice of a Service, and what is wrong with its ConfigMap.
func noticeOf(in Input) (string, annotations.Problems) {
	refs := Refers(in)
	if len(refs) == 0 {
		return "", nil
	}
	object := in.Objects[refs[0]]
	switch text, has := object.Data[noticeText]; {
	case object.Data == nil:
		return "", annotations.Problems{noticeKey.Refusal(in.Values, refs[0].String()+" "+object.Why, "the name of a ConfigMap in the namespace of the Service")}
	case !has:
		return "", annotations.Problems{noticeKey.Refusal(in.Values, refs[0].String()+" has no key "+noticeText, "a ConfigMap with the key "+noticeText)}
	default:
		return string(text), nil
	}
}
